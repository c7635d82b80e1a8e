"""The same rows in other formats than CSV: as Parquet, as CSV in gzip, with tabs for commas."""

import csv
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import data
import duckdb
import pyarrow.parquet as pq

BENCH = Path(__file__).resolve().parent
# As DuckDB writes them: enough of them for all threads.
ROW_GROUP_ROWS = 122_880
# Of each table of facts in gzip: each is decompressed by one thread.
GZIP_FILES = 8


@dataclass(frozen=True)
class Format:
    name: str
    ending: str
    # (dataset, table, folder): writes the table's files into its folder.
    write: callable


def in_format(cache, dataset, format):
    """The dataset with all of its tables in another format, and a suite that says so."""
    suite = dataset.suite

    def make(folder):
        shutil.copytree(data.REPOSITORY / "suites" / suite.name, folder / "suite")
        manifest = folder / "suite" / "suite.toml"
        text = manifest.read_text()
        for table in suite.tables:
            text = with_format(data.with_files(text, table, f"{table}/*.{format.ending}"), table, format)
            (folder / table).mkdir()
            format.write(dataset, table, folder / table)
        manifest.write_text(text)

    folder = data.made_once(cache / f"{suite.name}-{dataset.scale}-{format.name}", make)
    return data.Dataset(suite, dataset.scale, folder, str(folder / "suite"), format.name, format.ending)


def with_format(manifest, table, format):
    """The text of a suite.toml that says how the table is written."""
    begin = manifest.index(f'\nname = "{table}"\n')
    end = manifest.find("\n[[", begin)
    of_table = manifest[begin:end]
    if format is TSV:
        of_table = re.sub(r"(\nfiles = .*)", r'\1\ndialect = { delimiter = "\\t" }', of_table)
    if format is PARQUET:
        # Columns have the names that SQL knows them by.
        of_table = re.sub(r', header = "[^"]*"|, at = \d+', "", of_table)
        of_table = re.sub(r"\nfields = \d+", "", of_table)
    return manifest[:begin] + of_table + manifest[end:]


def write_parquet(dataset, table, folder):
    """All columns as DuckDB reads them, those that are needed with their types, by pyarrow."""
    with duckdb.connect() as connection:
        relation = connection.sql(f"FROM {read_csv(dataset, table)}")
        renamed = RENAMED.get((dataset.suite.name, table), {})
        columns = ", ".join(f'"{name}" AS "{renamed.get(name, name)}"' for name in relation.columns)
        with relation.project(columns).to_arrow_reader(ROW_GROUP_ROWS) as batches:
            with pq.ParquetWriter(folder / f"{table}.parquet", batches.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch, ROW_GROUP_ROWS)


# Names of columns that only the suite uses.
RENAMED = {("books", "reviews"): {"text": "body"}}


def read_csv(dataset, table):
    """The read_csv(...) of the table in DuckDB's tables.sql."""
    sql = (BENCH / "sql" / "duckdb" / dataset.suite.name / "tables.sql").read_text()
    return calls_of_read_csv(sql)[table].replace(f"{{{table}}}", dataset.pattern(table))


def calls_of_read_csv(sql):
    """Table → call. Each ends with its columns."""
    return {call[1]: call[0] for call in re.finditer(r"read_csv\('\{(\w+)\}'.*?\}\)", sql, re.DOTALL)}


def duckdb_tables(sql, format):
    """DuckDB's tables.sql for files of this format; what it decompresses it tells by their names."""
    if format == TSV.name:
        return sql.replace("delim = ','", "delim = '\\t'")
    if format == PARQUET.name:
        for table, call in calls_of_read_csv(sql).items():
            sql = sql.replace(call, f"read_parquet('{{{table}}}')")
    return sql


def write_gzip(dataset, table, folder):
    files = data.files_of(dataset, table)
    for file in files:
        if table in dataset.suite.facts:
            data.split(file, folder, max(1, GZIP_FILES // len(files)))
        else:
            shutil.copy(file, folder)
    subprocess.run(["gzip", "-6", *sorted(folder.iterdir())], check=True)


def write_tsv(dataset, table, folder):
    csv.field_size_limit(sys.maxsize)
    text = {"newline": "", "encoding": "utf-8"}
    for file in data.files_of(dataset, table):
        tsv = folder / f"{file.stem}.tsv"
        with file.open(**text) as given, tsv.open("w", **text) as out:
            csv.writer(out, delimiter="\t", lineterminator="\n").writerows(csv.reader(given))


PARQUET = Format("parquet", "parquet", write_parquet)
GZIP = Format("gzip", "csv.gz", write_gzip)
TSV = Format("tsv", "tsv", write_tsv)
FORMATS = (PARQUET, GZIP, TSV)
