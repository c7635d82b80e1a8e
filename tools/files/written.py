"""One table as files of every format and dialect, with what Caudal has to be told of each, and asked, to have its values again."""

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

ARROW = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_(), "date": pa.date32(), "timestamp": pa.timestamp("us")}
SQL = {"int": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "bool": "BOOLEAN", "date": "DATE"}


@dataclass
class Format:
    name: str
    # (table, folder, chance): writes into the folder.
    write: callable
    # What is said of it, but for its types.
    options: dict
    # Whether types of columns are said, or are values cast that the format has no type for, or neither.
    typed: bool = False
    cast: bool = False
    # Whether it holds a table without rows.
    holds_none: bool = True


def written(format, table, folder, chance):
    """The table's file, as it is named to Caudal."""
    target = Path(folder)
    target.mkdir(parents=True)
    format.write(table, target, chance)
    said = [f"{option}={json.dumps(value, ensure_ascii=True)}" for option, value in format.options.items()]
    if format.typed:
        types = ", ".join(f'{name}="{ty}"' for name, ty in table.columns.items())
        said.append(f"types={{{types}}}")
    return f"{table.name}={target}{{{', '.join(said)}}}" if said else f"{table.name}={target}"


def asked(format, table, sql):
    """The SQL, with the table's columns as what they are."""
    if not format.cast:
        return sql
    columns = [f'{cast(name, ty)} AS "{name}"' for name, ty in table.columns.items()]
    return re.sub(rf"\b{table.name} AS (\w+)", rf"(SELECT {', '.join(columns)} FROM {table.name}) AS \1", sql)


def cast(name, ty):
    # SQL's own is of nanoseconds, which do not reach the year 1.
    return f"arrow_cast(\"{name}\", 'Timestamp(Microsecond, None)')" if ty == "timestamp" else f'CAST("{name}" AS {SQL.get(ty, ty)})'


def parts(table, chance):
    """Its rows in one to three files."""
    count = 1 if not table.rows else chance.randrange(1, 4)
    return [table.rows[part::count] for part in range(count)]


def arrow(table, rows):
    types = [ARROW.get(ty) or decimal(ty) for ty in table.columns.values()]
    columns = list(zip(*rows)) or [[] for _ in types]
    return pa.table({name: pa.array(column, ty) for name, column, ty in zip(table.columns, columns, types)})


def decimal(ty):
    return pa.decimal128(*map(int, re.findall(r"\d+", ty)))


def as_csv(pack=lambda bytes: bytes, encoding="utf-8", times=lambda text, ty: text, comma=False, null="", header=True, **dialect):
    """By Python's own writer."""
    dialect = {"lineterminator": "\n"} | dialect

    def text(value, ty):
        if value is None:
            return null
        if ty == "bool":
            return "true" if value else "false"
        if ty in ("date", "timestamp"):
            return times(str(value), ty)
        said = repr(value) if ty == "float" else str(value)
        return said.replace(".", ",") if comma and ty not in ("int", "text") else said

    def write(table, folder, chance):
        for at, rows in enumerate(parts(table, chance)):
            out = io.StringIO(newline="")
            writer = csv.writer(out, **dialect)
            if header:
                writer.writerow(table.columns)
            types = table.columns.values()
            writer.writerows([text(value, ty) for value, ty in zip(row, types)] for row in rows)
            (folder / f"{at}.csv").write_bytes(pack(out.getvalue().encode(encoding)))

    return write


def program(*command):
    assert shutil.which(command[0]), f"there is no {command[0]}"
    return lambda bytes: subprocess.run([*command, "-c"], input=bytes, capture_output=True, check=True).stdout


def european(text, ty):
    day, _, time = text.partition(" ")
    day = "/".join(reversed(day.split("-")))
    return day if ty == "date" else f"{day} {time if '.' in time else time + '.0'}"


def as_json(join, pack=lambda bytes: bytes, **options):
    """By Python's own writer; what JSON has no type for is text."""

    def value(value, ty):
        if isinstance(value, float) and not math.isfinite(value):
            return repr(value)
        return value if value is None or ty in ("int", "bool", "text", "float") else str(value)

    def write(table, folder, chance):
        for at, rows in enumerate(parts(table, chance)):
            objects = [{name: value(cell, ty) for (name, ty), cell in zip(table.columns.items(), row)} for row in rows]
            text = join([json.dumps(object, **options) for object in objects])
            (folder / f"{at}.json").write_bytes(pack(text.encode()))

    return write


def lines(objects):
    return "".join(object + "\n" for object in objects)


def array(objects):
    return "[" + ",\n".join(objects) + "]"


def as_parquet(**options):
    def write(table, folder, chance):
        for at, rows in enumerate(parts(table, chance)):
            size = chance.choice([1, 5, 1000])
            pq.write_table(arrow(table, rows), folder / f"{at}.parquet", row_group_size=size, **options)

    return write


def by_polars(write):
    def write_all(table, folder, chance):
        for at, rows in enumerate(parts(table, chance)):
            write(pl.from_arrow(arrow(table, rows)), folder / str(at))

    return write_all


def by_duckdb(options):
    def write(table, folder, chance):
        with duckdb.connect(config={"threads": 1}) as connection:
            for at, rows in enumerate(parts(table, chance)):
                given = arrow(table, rows)
                connection.register("given", given)
                connection.execute(f"COPY given TO '{folder / str(at)}' ({options})")

    return write


def as_arrow(new, **options):
    def write(table, folder, chance):
        for at, rows in enumerate(parts(table, chance)):
            given = arrow(table, rows)
            with pa.OSFile(str(folder / str(at)), "wb") as out:
                with new(out, given.schema, options=ipc.IpcWriteOptions(**options)) as writer:
                    writer.write_table(given, max_chunksize=chance.choice([1, 7, 1000]))

    return write


COMMAS = {"delimiter": ","}
PLAIN = Format("CSV", as_csv(), COMMAS, typed=True)
FORMATS = [
    Format("CSV, tabs and CRLF", as_csv(delimiter="\t", lineterminator="\r\n"), {"delimiter": "\t"}, typed=True),
    Format("CSV for Europe", as_csv(delimiter=";", comma=True, times=european, encoding="utf-8-sig"), {"delimiter": ";", "decimal": ",", "date": "%d/%m/%Y", "timestamp": "%d/%m/%Y %H:%M:%S.%f"}, typed=True),
    Format("CSV, bars, NULL in words", as_csv(delimiter="|", null="no value", quoting=csv.QUOTE_ALL), {"delimiter": "|", "null": "no value"}, typed=True),
    Format("CSV, backslashes", as_csv(quoting=csv.QUOTE_NONE, escapechar="\\"), COMMAS | {"quote": False, "escape": "\\"}, typed=True),
    Format("CSV, single quotes", as_csv(quotechar="'"), COMMAS | {"quote": "'"}, typed=True),
    Format("CSV, UTF-16", as_csv(encoding="utf-16", delimiter="\t"), {"delimiter": "\t"}, typed=True),
    Format("CSV, gzip", as_csv(gzip.compress), COMMAS, typed=True),
    Format("CSV, bzip2", as_csv(bz2.compress), COMMAS, typed=True),
    Format("CSV, xz", as_csv(lzma.compress), COMMAS, typed=True),
    Format("CSV, zstd", as_csv(program("zstd", "-q")), COMMAS, typed=True),
    Format("CSV, lz4", as_csv(program("lz4", "-q")), COMMAS, typed=True),
    Format("JSON lines", as_json(lines), {}, cast=True, holds_none=False),
    Format("JSON array", as_json(array, ensure_ascii=False), {}, cast=True, holds_none=False),
    Format("JSON objects", as_json("\n".join, indent=1), {}, cast=True, holds_none=False),
    Format("JSON lines, zstd", as_json(lines, program("zstd", "-q")), {}, cast=True, holds_none=False),
    *(Format(f"Parquet, {codec}", as_parquet(compression=codec), {}) for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]),
    Format("Parquet, pages 2.0", as_parquet(data_page_version="2.0", data_page_size=100, use_dictionary=False, write_page_index=True), {}),
    Format("Parquet by polars", by_polars(lambda frame, path: frame.write_parquet(path)), {}),
    Format("Parquet by DuckDB", by_duckdb("FORMAT parquet"), {}),
    Format("Arrow file", as_arrow(ipc.new_file), {}),
    Format("Arrow file, lz4", as_arrow(ipc.new_file, compression="lz4"), {}),
    Format("Arrow stream, zstd", as_arrow(ipc.new_stream, compression="zstd"), {}),
    Format("Arrow by polars", by_polars(lambda frame, path: frame.write_ipc(path)), {}),
]
