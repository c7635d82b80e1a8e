"""Answers SQL with DuckDB: runs tables.sql of a folder, then writes a CSV file for each other query in it.

usage: with_duckdb.py FOLDER OUT
"""

import os
import sys
from pathlib import Path

import duckdb


def main(folder, out):
    folder, out = Path(folder), Path(out)
    connection = duckdb.connect(config={"threads": os.environ["BENCH_THREADS"]})
    connection.execute((folder / "tables.sql").read_text())
    for query in sorted(folder.glob("q*.sql")):
        answer = out / f"{query.stem}.csv"
        connection.execute(f"COPY ({query.read_text()}) TO '{answer}' (HEADER)")


if __name__ == "__main__":
    main(*sys.argv[1:])
