"""Compressed files, by programs and libraries: whole, in members, cut off, damaged."""

import bz2
import gzip
import lzma
import shutil
import subprocess
import zlib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv as pacsv
from kind import Kind
from made import FLAT, by, content

CSV = "id,text,price\n" + "".join(f'{n},"text {n * 7919 % 1000}\n{"x" * (n % 50)}",{n / 4}\n' for n in range(20_000))
BYTES = CSV.encode()


def rows_of(stream):
    """Empty texts are NULL here."""
    parse, convert = pacsv.ParseOptions(newlines_in_values=True), pacsv.ConvertOptions(strings_can_be_null=True, null_values=[""])
    return pacsv.read_csv(stream, parse_options=parse, convert_options=convert)


def arrow(codec):
    """As pyarrow reads it; it is told the compression."""

    def read(path):
        with pa.CompressedInputStream(pa.OSFile(path), codec) as stream:
            return rows_of(stream)

    return read


def python(decompress):
    """As Python's own library reads it, at once."""

    def read(path):
        plain = decompress(Path(path).read_bytes())
        return rows_of(pa.BufferReader(plain))

    return read


def xz(path):
    return python(lzma.decompress)(path)


def duckdb_writes(path, codec):
    with duckdb.connect() as connection:
        connection.register("flat", FLAT)
        connection.execute(f"COPY flat TO '{path}' (FORMAT csv, HEADER, COMPRESSION {codec})")


def command(*words):
    """What a program's decompression makes of it."""

    def read(path):
        plain = subprocess.run([*words, path], capture_output=True, check=True).stdout
        return rows_of(pa.BufferReader(plain))

    return read


def packed(*words):
    """By a program, as it writes to its standard output."""
    assert shutil.which(words[0]), f"there is no {words[0]}"
    return subprocess.run([*words, "-c"], input=BYTES, capture_output=True, check=True).stdout


def by_program(*words, change=lambda bytes: bytes):
    return lambda folder: content(change(packed(*words)), name="t.csv")(folder)


def cut(bytes):
    return bytes[: len(bytes) * 2 // 3]


def without_end(bytes):
    return bytes[:-5]


def damaged(bytes):
    middle = len(bytes) // 2
    return bytes[:middle] + b"\x55\xaa\x55\xaa" + bytes[middle + 4 :]


def members(compress, parts=7):
    size = -(-len(BYTES) // parts)
    return b"".join(compress(BYTES[at : at + size]) for at in range(0, len(BYTES), size))


PROGRAMS = {
    "gzip": (("gzip", "-dc"), [("-6",), ("-1",), ("-9", "-n")]),
    "zstd": (("zstd", "-dcq"), [("-3",), ("-19",), ("-1", "--no-check"), ("--long=27",), ("-3", "--format=zstd", "--rsyncable")]),
    "bzip2": (("bzip2", "-dc"), [("-9",), ("-1",)]),
    "xz": (("xz", "-dc"), [("-6",), ("-0", "--check=crc32"), ("--check=sha256",), ("--block-size=8192",), ("--x86", "--lzma2"), ("-9",)]),
    "lz4": (("lz4", "-dcq"), [("-1",), ("-9", "-BD"), ("-B4", "-BX", "--content-size"), ("--no-frame-crc",)]),
}

KINDS = [
    *(
        Kind(f"compressed by {' '.join([name, *options])}", by_program(name, *options), command(*read))
        for name, (read, choices) in PROGRAMS.items()
        for options in choices
    ),
    *(
        Kind(f"compressed by {name}, {how}", by_program(name, change=change), command(*PROGRAMS[name][0]), code="CDL-1040")
        for name in PROGRAMS
        for how, change in {"cut off": cut, "without its last bytes": without_end, "damaged": damaged}.items()
    ),
    *(
        Kind(f"csv by pandas, {codec}", by(lambda path, codec=codec: FLAT.to_pandas().to_csv(path, index=False, compression=codec)), python(decompress))
        for codec, decompress in {"gzip": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}.items()
    ),
    *(Kind(f"csv by DuckDB, {codec}", by(lambda path, codec=codec: duckdb_writes(path, codec)), arrow(codec)) for codec in ["gzip", "zstd"]),
    Kind("gzip of several members", content(members(gzip.compress)), arrow("gzip")),
    Kind("gzip, filled up with zeros as tapes are", content(gzip.compress(BYTES), bytes(1000)), python(gzip.decompress)),
    Kind("gzip, followed by something else", content(gzip.compress(BYTES), b"more"), python(gzip.decompress), code="CDL-1040"),
    Kind("gzip, a wrong checksum", content(gzip.compress(BYTES)[:-8], bytes(8)), python(gzip.decompress), code="CDL-1040"),
    Kind("bzip2 of several members", content(members(bz2.compress)), python(bz2.decompress)),
    Kind("xz of several members", content(members(lzma.compress)), xz),
    Kind("lzma of old, which has no magic bytes", content(lzma.compress(BYTES, format=lzma.FORMAT_ALONE)), arrow("gzip"), code="CDL-1021"),
    Kind("gzip under another name", content(gzip.compress(BYTES), name="t.parquet"), arrow("gzip")),
    Kind("plain CSV under the name of gzip", content(BYTES, name="t.csv.gz"), lambda path: rows_of(pa.OSFile(path))),
    Kind("zlib without a wrapping that is known", content(zlib.compress(BYTES)), arrow("gzip"), code="CDL-1021", reason="nothing tells what it is"),
    Kind("gzip within gzip", content(gzip.compress(gzip.compress(BYTES))), arrow("gzip"), code="CDL-1021"),
    *(Kind(f"{codec}, an empty table", content(compress(b"id,name\n")), arrow(codec)) for codec, compress in {"gzip": gzip.compress, "bz2": bz2.compress}.items()),
]  # fmt: skip
