"""Writes one table as files of many kinds, and beside each the rows that its own library reads from it."""
import bz2, datetime, decimal, gzip, json, lzma, os, shutil, subprocess, sys
import duckdb, pandas as pd, polars as pl, pyarrow as pa
import pyarrow.csv as pacsv, pyarrow.feather as feather, pyarrow.ipc as ipc, pyarrow.parquet as pq

folder = sys.argv[1]
count = 2500


def path(name):
    return os.path.join(folder, name)


def text(value):
    """As Arrow's Rust displays it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).replace("e+", "e") if value == value else "NaN"
    if isinstance(value, datetime.datetime):
        shown = value.isoformat()
        return shown.replace("+00:00", "Z")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return "[" + ", ".join(text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {text(item)}" for name, item in value.items()) + "}"
    return str(value)


def expect(name, table):
    columns = [column.to_pylist() for column in table.columns]
    with open(path(name + ".expected"), "w") as out:
        for row in zip(*columns):
            out.write(json.dumps([None if value is None else text(value) for value in row]) + "\n")


def maybe(values, every=7):
    return [None if at % every == 3 else value for at, value in enumerate(values)]


numbers = list(range(count))
flat = pa.table({
    "id": pa.array(numbers, pa.int64()),
    "name": pa.array(maybe([f"name {n}" for n in numbers])),
    "price": pa.array(maybe([n / 4 + 0.125 for n in numbers])),
    "ok": pa.array(maybe([n % 2 == 0 for n in numbers])),
})
start = datetime.datetime(2024, 1, 1, 12, 30, 15)
rich = pa.table({
    "i8": pa.array(maybe([n % 100 for n in numbers]), pa.int8()),
    "u32": pa.array(maybe(numbers), pa.uint32()),
    "big": pa.array(maybe([2**63 + n for n in numbers]), pa.uint64()),
    "f32": pa.array(maybe([n / 8 + 0.5 for n in numbers]), pa.float32()),
    "dec": pa.array(maybe([decimal.Decimal(n) / 100 for n in numbers]), pa.decimal128(12, 2)),
    "day": pa.array(maybe([start.date() + datetime.timedelta(n) for n in numbers])),
    "us": pa.array(maybe([start + datetime.timedelta(seconds=n) for n in numbers]), pa.timestamp("us")),
    "utc": pa.array(maybe([start + datetime.timedelta(seconds=n) for n in numbers]), pa.timestamp("ms", "UTC")),
    "bin": pa.array(maybe([bytes([n % 256, 7]) for n in numbers])),
    "dict": pa.array(maybe([f"kind {n % 5}" for n in numbers])).dictionary_encode(),
    "list": pa.array(maybe([[n, None, n + 1][: n % 4] for n in numbers]), pa.list_(pa.int64())),
    "struct": pa.array(maybe([{"a": n, "b": f"x{n}"} for n in numbers])),
    "deep": pa.array(maybe([[{"k": [f"v{n}"]}] for n in numbers])),
    "none": pa.nulls(count),
})

# Parquet of several writers.
for compression in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
    name = f"pyarrow_{compression}.parquet"
    pq.write_table(rich, path(name), compression=compression, row_group_size=700)
    expect(name, rich)
for version in ["1.0", "2.4", "2.6"]:
    for page in ["1.0", "2.0"]:
        name = f"pyarrow_{version}_{page}.parquet"
        pq.write_table(flat, path(name), version=version, data_page_version=page, data_page_size=1000)
        expect(name, flat)
for name, options in {
    "plain": dict(use_dictionary=False, write_statistics=False),
    "index": dict(write_page_index=True, data_page_size=2000),
    "split": dict(use_dictionary=False, use_byte_stream_split=["price"]),
    "delta": dict(use_dictionary=False, column_encoding={"id": "DELTA_BINARY_PACKED", "name": "DELTA_BYTE_ARRAY"}),
    "length": dict(use_dictionary=False, column_encoding={"name": "DELTA_LENGTH_BYTE_ARRAY"}),
    "bare": dict(store_schema=False),
    "checksum": dict(write_page_checksum=True),
}.items():
    pq.write_table(flat, path(f"pyarrow_{name}.parquet"), **options)
    expect(f"pyarrow_{name}.parquet", flat)
pq.write_table(rich.select(["us"]), path("int96.parquet"), use_deprecated_int96_timestamps=True)
expect("int96.parquet", rich.select(["us"]))
pq.write_table(flat.slice(0, 0), path("empty.parquet"))
expect("empty.parquet", flat.slice(0, 0))
flat.to_pandas().to_parquet(path("pandas.parquet"))
expect("pandas.parquet", pq.read_table(path("pandas.parquet")))
for compression in ["zstd", "snappy", "uncompressed", "lz4"]:
    name = f"polars_{compression}.parquet"
    pl.from_arrow(rich.drop(["none"])).write_parquet(path(name), compression=compression, row_group_size=900)
    expect(name, rich.drop(["none"]))
duck = duckdb.connect()
for compression in ["snappy", "zstd", "gzip", "uncompressed", "brotli", "lz4_raw"]:
    name = f"duckdb_{compression}.parquet"
    duck.execute(f"COPY flat TO '{path(name)}' (FORMAT parquet, COMPRESSION {compression}, ROW_GROUP_SIZE 2048)")
    expect(name, flat)
duck.execute(f"COPY flat TO '{path('duckdb_v2.parquet')}' (FORMAT parquet, PARQUET_VERSION v2)")
expect("duckdb_v2.parquet", flat)

# Arrow.
for compression in [None, "lz4", "zstd"]:
    options = ipc.IpcWriteOptions(compression=compression)
    for kind, new in {"file": ipc.new_file, "stream": ipc.new_stream}.items():
        name = f"pyarrow_{compression}.{kind}.arrow"
        with pa.OSFile(path(name), "wb") as out, new(out, rich.schema, options=options) as writer:
            writer.write_table(rich, max_chunksize=600)
        expect(name, rich)
feather.write_feather(rich, path("pyarrow.feather"))
expect("pyarrow.feather", rich)
for compression in ["uncompressed", "lz4", "zstd"]:
    name = f"polars_{compression}.arrow"
    pl.from_arrow(rich.drop(["none"])).write_ipc(path(name), compression=compression)
    expect(name, rich.drop(["none"]))
pl.from_arrow(flat).write_ipc_stream(path("polars.arrows"))
expect("polars.arrows", flat)

# JSON.
plain = pa.table({"id": flat["id"], "name": flat["name"], "price": flat["price"], "ok": flat["ok"], "list": rich["list"], "struct": rich["struct"]})
rows = plain.to_pylist()
lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
spaced = "".join(json.dumps(row, indent=2) + "\n" for row in rows).encode()
kinds = {
    "lines.json": lines,
    "crlf.json": lines.replace(b"\n", b"\r\n"),
    "bom.json": b"\xef\xbb\xbf" + lines,
    "pretty.json": spaced,
    "array.json": json.dumps(rows).encode(),
    "array_pretty.json": json.dumps(rows, indent=1).encode(),
    "escaped.json": "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows).encode(),
}
for name, content in kinds.items():
    open(path(name), "wb").write(content)
    expect(name, plain)
flat.to_pandas().astype({"ok": object}).to_json(path("pandas.json"), orient="records", lines=True)
expect("pandas.json", flat)
flat.to_pandas().astype({"ok": object}).to_json(path("pandas_array.json"), orient="records")
expect("pandas_array.json", flat)
pl.from_arrow(plain).write_ndjson(path("polars.json"))
expect("polars.json", plain)
duck.execute(f"COPY plain TO '{path('duckdb.json')}' (FORMAT json)")
expect("duckdb.json", plain)
duck.execute(f"COPY plain TO '{path('duckdb_array.json')}' (FORMAT json, ARRAY true)")
expect("duckdb_array.json", plain)

# CSV, by each program's own compression.
flat.to_pandas().to_csv(path("pandas.csv"), index=False)
expect("pandas.csv", flat)
for compression, ending in {"gzip": "gz", "bz2": "bz2", "xz": "xz"}.items():
    flat.to_pandas().to_csv(path(f"pandas.csv.{ending}"), index=False, compression=compression)
    expect(f"pandas.csv.{ending}", flat)
pl.from_arrow(flat).write_csv(path("polars.csv"))
expect("polars.csv", flat)
for compression in ["gzip", "zstd"]:
    duck.execute(f"COPY flat TO '{path('duckdb.' + compression)}' (FORMAT csv, HEADER, COMPRESSION {compression})")
    expect("duckdb." + compression, flat)
content = open(path("pandas.csv"), "rb").read()
for command, ending in {
    ("gzip", "-9"): "gz", ("gzip", "-1"): "1.gz", ("zstd", "-19"): "zst", ("zstd", "-1", "--no-check"): "1.zst",
    ("bzip2", "-9"): "bz2", ("xz", "-6"): "xz", ("xz", "-0", "--check=crc32"): "0.xz", ("xz", "--block-size=8192"): "blocks.xz",
    ("lz4", "-9"): "lz4", ("lz4", "-1", "-BD"): "linked.lz4", ("lz4", "-B4", "-BX", "--content-size"): "blocks.lz4",
}.items():
    if not shutil.which(command[0]):
        continue
    name = f"command.{ending}"
    packed = subprocess.run([*command, "-c"], input=content, capture_output=True, check=True).stdout
    open(path(name), "wb").write(packed)
    expect(name, flat)
open(path("members.gz"), "wb").write(b"".join(gzip.compress(content[at:at + 1000]) for at in range(0, len(content), 1000)))
expect("members.gz", flat)
open(path("wrong_name.parquet"), "wb").write(content)
expect("wrong_name.parquet", flat)
for name, packed in {"lines.json.gz": gzip.compress(lines), "lines.json.bz2": bz2.compress(lines), "array.json.xz": lzma.compress(json.dumps(rows).encode())}.items():
    open(path(name), "wb").write(packed)
    expect(name, plain)
