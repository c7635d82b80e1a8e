"""Arrow IPC: files and streams, compressed or not, of several writers."""

import gzip

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
from kind import Kind
from made import FLAT, MAPS, RICH, by

POLARS = RICH.drop_columns(["plus"])


def read_file(path):
    with pa.OSFile(path) as file:
        return ipc.open_file(file).read_all()


def read_stream(path):
    with pa.OSFile(path) as file:
        return ipc.open_stream(file).read_all()


def file(table, rows=300, **options):
    return by(lambda path: write(ipc.new_file, path, table, rows, options))


def stream(table, rows=300, **options):
    return by(lambda path: write(ipc.new_stream, path, table, rows, options))


def write(new, path, table, rows, options):
    with pa.OSFile(path, "wb") as out, new(out, table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)


def changed(written, change):
    def make(folder):
        name = written(folder)
        path = f"{folder}/{name}"
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(change(whole))
        return name

    return make


DICTIONARIES = pa.table({"d": pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode(), pa.array(["b", "c", "a"]).dictionary_encode()])})
RUNS = pa.table({"r": pa.RunEndEncodedArray.from_arrays([3, 5, 9], pa.array(["x", None, "z"]))})
VIEWS = pa.table({"v": pa.array(["short", None, "longer than twelve bytes"], pa.string_view()), "b": pa.array([b"x", b"y" * 20, None], pa.binary_view())})
UNIONS = pa.table({"u": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])})


def with_unions(path):
    with pa.OSFile(path, "wb") as out, ipc.new_file(out, UNIONS.schema) as writer:
        writer.write_table(UNIONS)


KINDS = [
    *(Kind(f"arrow file by pyarrow, {codec}", file(RICH, compression=codec), read_file) for codec in [None, "lz4", "zstd"]),
    *(Kind(f"arrow stream by pyarrow, {codec}", stream(RICH, compression=codec), read_stream) for codec in [None, "lz4", "zstd"]),
    Kind("feather", by(lambda path: feather.write_feather(RICH, path)), feather.read_table),
    *(Kind(f"arrow file by polars, {codec}", by(lambda path, codec=codec: pl.from_arrow(POLARS).write_ipc(path, compression=codec)), read_file) for codec in ["uncompressed", "lz4", "zstd"]),
    Kind("arrow stream by polars", by(lambda path: pl.from_arrow(POLARS).write_ipc_stream(path)), read_stream),
    Kind("arrow file, maps", file(MAPS), read_file),
    Kind("arrow file, dictionaries that differ", file(DICTIONARIES, unify_dictionaries=True), read_file),
    Kind("arrow stream, dictionaries that are replaced", stream(DICTIONARIES), read_stream),
    Kind("arrow stream, dictionaries that grow", stream(DICTIONARIES, emit_dictionary_deltas=True), read_stream),
    Kind("arrow stream, runs", stream(RUNS), lambda path: pa.table({"r": ["x"] * 3 + [None] * 2 + ["z"] * 4})),
    Kind("arrow file, views", file(VIEWS), read_file),
    Kind("arrow file of an old version", file(FLAT, metadata_version=pa.ipc.MetadataVersion.V4), read_file),
    Kind("arrow stream of an old layout", stream(FLAT, use_legacy_format=True), read_stream, code="CDL-1021", reason="nothing tells what it is, and nobody has written it since 2019"),
    Kind("arrow file, a batch for each row", file(FLAT.slice(0, 200), rows=1), read_file),
    Kind("arrow file without a row", file(RICH.slice(0, 0)), read_file),
    Kind("arrow stream without a row", stream(RICH.slice(0, 0)), read_stream),
    Kind("arrow stream in gzip", changed(stream(FLAT), gzip.compress), lambda path: ipc.open_stream(gzip.open(path).read()).read_all()),
    Kind("arrow stream through a pipe", stream(FLAT), read_stream, through=["cat"]),
    Kind("arrow file through a pipe", file(FLAT), read_file, through=["cat"], code="CDL-1012", reason="it is read at several places at once"),
    Kind("arrow file, unions", by(with_unions), read_file, code="CDL-1044", reason="SQL has no unions"),
    Kind("arrow file, cut off", changed(file(FLAT), lambda whole: whole[: len(whole) // 2]), read_file, code="CDL-1043"),
    Kind("arrow stream, cut off", changed(stream(FLAT), lambda whole: whole[: len(whole) // 2]), read_stream, code="CDL-1043"),
    Kind("arrow stream without its end", changed(stream(FLAT), lambda whole: whole[:-8]), read_stream, code="CDL-1043", reason="it may have been cut off: pyarrow takes any end of a batch for the end"),
    Kind("arrow file, damaged", changed(file(FLAT, compression="zstd"), lambda whole: whole[:3000] + bytes(200) + whole[3200:]), read_file, code="CDL-1043"),
]  # fmt: skip
