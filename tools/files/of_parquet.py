"""Parquet of several writers: codecs, encodings, pages, types; and files that are none."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from kind import Kind
from made import DECIMALS, FLAT, MAPS, NESTED, NUMBERS, NUMERIC, RICH, TEXTS, TIMES, by, content

READ = pq.read_table
DUCKDB = "read_parquet('{}')"
POLARS = RICH.drop_columns(["plus"])


def pyarrow(table, **options):
    return by(lambda path: pq.write_table(table, path, **options))


def polars(table, **options):
    return by(lambda path: pl.from_arrow(table).write_parquet(path, **options))


def by_duckdb(table, options):
    def write(path):
        with duckdb.connect() as connection:
            connection.register("given", table)
            connection.execute(f"COPY given TO '{path}' (FORMAT parquet, {options})")

    return by(write)


def changed(change, table=FLAT, **options):
    """A file that pyarrow has written, and somebody has changed."""

    def write(path):
        pq.write_table(table, path, **options)
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(change(whole))

    return by(write)


def at_middle_of_pages(whole):
    return whole[:500] + bytes(500) + whole[1000:]


def at_first_page(whole):
    """Its header begins after the magic bytes."""
    return whole[:6] + b"\xff" * 8 + whole[14:]


def in_footer(whole):
    """The middle of the footer is no Thrift any more."""
    length = int.from_bytes(whole[-8:-4], "little")
    middle = len(whole) - 8 - length // 2
    return whole[:middle] + b"\xff" * 40 + whole[middle + 40 :]


def in_many_files(path):
    """Row groups of very different sizes, one of them empty."""
    with pq.ParquetWriter(path, FLAT.schema) as writer:
        for begin, end in [(0, 1), (1, 1), (1, 700), (700, 701), (701, 1000)]:
            writer.write_table(FLAT.slice(begin, end - begin))


KINDS = [
    # Codecs.
    *(Kind(f"parquet by pyarrow, {codec}", pyarrow(RICH, compression=codec, row_group_size=300), READ) for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]),
    *(Kind(f"parquet by polars, {codec}", polars(POLARS, compression=codec, row_group_size=300), READ) for codec in ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"]),
    *(Kind(f"parquet by DuckDB, {codec}", by_duckdb(FLAT, f"COMPRESSION {codec}, ROW_GROUP_SIZE 2048"), DUCKDB) for codec in ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4_raw"]),
    Kind("parquet by DuckDB, version 2", by_duckdb(FLAT, "PARQUET_VERSION v2"), DUCKDB),
    Kind("parquet by DuckDB, nested", by_duckdb(NESTED, "COMPRESSION zstd"), READ),
    Kind("parquet by DuckDB, maps", by_duckdb(MAPS, "COMPRESSION zstd"), READ),
    Kind("parquet by DuckDB, times", by_duckdb(TIMES, "COMPRESSION zstd"), READ),
    Kind("parquet by pandas", by(lambda path: FLAT.to_pandas().to_parquet(path)), READ),
    Kind("parquet by pandas, with an index and categories", by(lambda path: pd.DataFrame({"a": [1, 2], "c": pd.Categorical(["x", "y"])}, index=pd.Index([7, 8], name="key")).to_parquet(path)), READ),
    # Pages and encodings.
    *(Kind(f"parquet {version}, pages {page}", pyarrow(FLAT, version=version, data_page_version=page, data_page_size=1000), READ) for version in ["1.0", "2.4", "2.6"] for page in ["1.0", "2.0"]),
    Kind("parquet, nested in pages 2.0", pyarrow(NESTED, data_page_version="2.0", data_page_size=500, compression="zstd"), READ),
    Kind("parquet without dictionaries", pyarrow(RICH, use_dictionary=False), READ),
    Kind("parquet, dictionaries that grow too large", pyarrow(FLAT, dictionary_pagesize_limit=2000), READ),
    Kind("parquet without statistics", pyarrow(FLAT, write_statistics=False), READ),
    Kind("parquet with a page index", pyarrow(RICH, write_page_index=True, data_page_size=500), READ),
    Kind("parquet with checksums", pyarrow(FLAT, write_page_checksum=True), READ),
    Kind("parquet without Arrow's schema", pyarrow(FLAT, store_schema=False), READ),
    Kind("parquet, delta encodings", pyarrow(FLAT.drop_columns(["ok"]), use_dictionary=False, column_encoding={"id": "DELTA_BINARY_PACKED", "name": "DELTA_BYTE_ARRAY", "price": "PLAIN", "day": "DELTA_BINARY_PACKED"}), READ),
    Kind("parquet, delta lengths", pyarrow(TEXTS.select(["text"]), use_dictionary=False, column_encoding={"text": "DELTA_LENGTH_BYTE_ARRAY"}), READ),
    Kind("parquet, split streams", pyarrow(NUMERIC.select(["f32", "f64", "i32", "i64"]), use_dictionary=False, use_byte_stream_split=True), READ),
    # Types.
    Kind("parquet, numbers", pyarrow(NUMERIC), READ),
    Kind("parquet, decimals", pyarrow(DECIMALS), READ),
    Kind("parquet, decimals as integers", pyarrow(DECIMALS.select(["small", "medium"]), store_decimal_as_integer=True), READ),
    Kind("parquet, decimals of 256 bits", pyarrow(pa.table({"d": pa.array([10**60, -1, None], pa.decimal256(70, 5))})), READ),
    Kind("parquet, floats of 16 bits", pyarrow(pa.table({"h": pa.array([1.5, None, -0.25], pa.float16())})), READ),
    Kind("parquet, times", pyarrow(TIMES), READ),
    Kind("parquet, times in 96 bits", pyarrow(TIMES.select(["us"]), use_deprecated_int96_timestamps=True), READ),
    Kind("parquet, texts and bytes", pyarrow(TEXTS), READ),
    Kind("parquet, bytes of one length", pyarrow(pa.table({"b": pa.array([b"0123456789abcdef", None], pa.binary(16))})), READ),
    Kind("parquet, nested", pyarrow(NESTED), READ),
    Kind("parquet, maps", pyarrow(MAPS), READ),
    Kind("parquet, lists of one length", pyarrow(pa.table({"l": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2))})), READ),
    Kind("parquet, columns of nothing but NULL", pyarrow(pa.table({"id": NUMBERS, "none": pa.nulls(1000)})), READ),
    # Shapes.
    Kind("parquet without a row", pyarrow(RICH.slice(0, 0)), READ),
    Kind("parquet without a row group", by(lambda path: pq.ParquetWriter(path, FLAT.schema).close()), READ),
    Kind("parquet, row groups of many sizes", by(in_many_files), READ),
    Kind("parquet, a row group for each row", pyarrow(FLAT.slice(0, 200), row_group_size=1), READ),
    Kind("parquet, 2,000 columns", pyarrow(pa.table({f"c{n}": [n, None] for n in range(2000)})), READ),
    Kind("parquet, names that are hard", pyarrow(pa.table({"a b": [1], "a.b": [2], 'say "so"': [3], "ñ🦀": [4], "Select": [5]})), READ),
    Kind("parquet, 300,000 rows", pyarrow(pa.table({"n": range(300_000), "s": [f"text {n % 1000}" for n in range(300_000)]}), row_group_size=90_000), READ),
    Kind("parquet under another name", by(lambda path: pq.write_table(FLAT, path), name="t.csv"), READ),
    # Mistakes.
    Kind("parquet, cut off", changed(lambda whole: whole[: len(whole) // 2]), READ, code="CDL-1043"),
    Kind("parquet, its beginning lost", changed(lambda whole: whole[100:]), READ, code="CDL-1021"),
    Kind("parquet, only its magic bytes", content(b"PAR1", bytes(4), b"PAR1"), READ, code="CDL-1043"),
    Kind("parquet, a footer that is none", changed(in_footer), READ, code="CDL-1043"),
    Kind("parquet, a footer of a wrong length", changed(lambda whole: whole[:-8] + b"\xff\xff\xff\x7f" + whole[-4:]), READ, code="CDL-1043"),
    Kind("parquet, damaged pages", changed(at_middle_of_pages, compression="zstd"), READ, code="CDL-1043"),
    Kind("parquet, a length of a page that lies", changed(at_first_page), READ, code="CDL-1043"),
    Kind("parquet, encrypted", changed(lambda whole: whole[:-4] + b"PARE"), READ, code="CDL-1043"),
    Kind("parquet through a pipe", pyarrow(FLAT), READ, through=["cat"], code="CDL-1012", reason="it is read at several places at once"),
]  # fmt: skip
