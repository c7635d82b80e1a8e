"""Tables that files are made of."""

import datetime
import decimal
from pathlib import Path

import pyarrow as pa

COUNT = 1000
NUMBERS = list(range(COUNT))
START = datetime.datetime(2024, 2, 28, 22, 30, 15)


def maybe(values, every=7):
    """The values with NULLs among them."""
    return [None if at % every == 3 else value for at, value in enumerate(values)]


def moments(unit, zone=None):
    return pa.array(maybe([START + datetime.timedelta(seconds=n, microseconds=n if unit in ("us", "ns") else 0) for n in NUMBERS]), pa.timestamp(unit, zone))


# What every format holds.
FLAT = pa.table({
    "id": pa.array(NUMBERS, pa.int64()),
    "name": pa.array(maybe([f"name {n} ñ日🦀" for n in NUMBERS])),
    "price": pa.array(maybe([n / 4 + 0.125 for n in NUMBERS])),
    "ok": pa.array(maybe([n % 2 == 0 for n in NUMBERS])),
    "day": pa.array(maybe([START.date() + datetime.timedelta(n) for n in NUMBERS])),
})  # fmt: skip

NUMERIC = pa.table({
    "i8": pa.array(maybe([n % 256 - 128 for n in NUMBERS]), pa.int8()),
    "i16": pa.array(maybe([n * 60 - 30000 for n in NUMBERS]), pa.int16()),
    "i32": pa.array(maybe([-(2**31) + n for n in NUMBERS]), pa.int32()),
    "i64": pa.array(maybe([-(2**63) + n for n in NUMBERS]), pa.int64()),
    "u8": pa.array(maybe([n % 256 for n in NUMBERS]), pa.uint8()),
    "u16": pa.array(maybe([65535 - n for n in NUMBERS]), pa.uint16()),
    "u32": pa.array(maybe([2**32 - 1 - n for n in NUMBERS]), pa.uint32()),
    "u64": pa.array(maybe([2**64 - 1 - n for n in NUMBERS]), pa.uint64()),
    "f32": pa.array(maybe([n / 8 + 0.5 for n in NUMBERS]), pa.float32()),
    "f64": pa.array(maybe([[float("inf"), float("-inf"), -0.0, 1e308, 5e-324][n % 5] for n in NUMBERS])),
    "ok": pa.array(maybe([n % 3 == 0 for n in NUMBERS])),
})  # fmt: skip

DECIMALS = pa.table({
    "small": pa.array(maybe([decimal.Decimal(n) / 100 for n in NUMBERS]), pa.decimal128(7, 2)),
    "medium": pa.array(maybe([decimal.Decimal(n * 10**12) / 1000 for n in NUMBERS]), pa.decimal128(18, 3)),
    "large": pa.array(maybe([decimal.Decimal(10**37 - n) for n in NUMBERS]), pa.decimal128(38, 0)),
    "negative": pa.array(maybe([decimal.Decimal(-n) / 10**10 for n in NUMBERS]), pa.decimal128(20, 10)),
})  # fmt: skip

TIMES = pa.table({
    "day": FLAT["day"],
    "ms": moments("ms"),
    "us": moments("us"),
    "ns": moments("ns"),
    "utc": moments("us", "UTC"),
    "madrid": moments("ms", "Europe/Madrid"),
    "plus": moments("us", "+05:30"),
    "time": pa.array(maybe([datetime.time(n % 24, n % 60, 59, n) for n in NUMBERS]), pa.time64("us")),
})  # fmt: skip

NESTED = pa.table({
    "id": pa.array(NUMBERS, pa.int64()),
    "list": pa.array(maybe([[n, None, n + 1][: n % 4] for n in NUMBERS]), pa.list_(pa.int64())),
    "struct": pa.array(maybe([{"a": n, "b": f"x{n}" if n % 3 else None} for n in NUMBERS])),
    "lists": pa.array(maybe([[[f"v{n}"], [], None][: n % 4] for n in NUMBERS]), pa.list_(pa.list_(pa.string()))),
    "deep": pa.array(maybe([[{"k": {"n": [n, n]}}, None][: n % 3] for n in NUMBERS])),
})  # fmt: skip

MAPS = pa.table({
    "id": pa.array(NUMBERS, pa.int64()),
    "map": pa.array(maybe([[(f"k{m}", m if m % 2 else None) for m in range(n % 4)] for n in NUMBERS]), pa.map_(pa.string(), pa.int64())),
})  # fmt: skip

TEXTS = pa.table({
    "text": pa.array(maybe([["", "a", "ñandú", "日本語", "🦀" * (n % 5), "x" * n, "two\nlines", 'a "quote"', "a,b;c\td|e", "back\\slash", "NULL", "\u0000"][n % 12] for n in NUMBERS])),
    "large": pa.array(maybe([f"text {n}" for n in NUMBERS]), pa.large_string()),
    "bytes": pa.array(maybe([bytes([n % 128, 7]) for n in NUMBERS]), pa.binary()),
    "kind": pa.array(maybe([f"kind {n % 5}" for n in NUMBERS])).dictionary_encode(),
    "none": pa.nulls(COUNT, pa.string()),
})  # fmt: skip

RICH = pa.table({name: column for table in (NUMERIC, DECIMALS, TIMES, NESTED, TEXTS) for name, column in zip(table.column_names, table.columns)})


def content(*parts, name="t"):
    """Writes a file of these bytes and texts."""

    def make(folder):
        joined = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
        (Path(folder) / name).write_bytes(joined)
        return name

    return make


def by(write, name="t"):
    """Writes a file by a function of its path."""

    def make(folder):
        write(str(Path(folder) / name))
        return name

    return make
