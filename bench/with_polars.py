"""Answers a suite's questions with Polars, all in one plan, and writes a CSV file for each.

usage: with_polars.py SUITE FORMAT OUT NAME=VALUE...    (the files of each table, and each parameter)
"""

import importlib
import sys
from pathlib import Path

import polars as pl
from names import names_in_parquet


def main(suite, format, out, *assignments):
    given = dict(assignment.split("=", 1) for assignment in assignments)
    params = {name: int(value) for name, value in given.items() if value.isdigit()}
    questions = importlib.import_module(f"polars_questions.{suite}").questions
    scan = scan_of_parquet(suite, given) if format == "parquet" else scan_of_text(format, given)
    frames = questions(scan, params)
    answers = pl.collect_all(frames.values(), engine="streaming")
    for name, answer in zip(frames, answers, strict=True):
        answer.write_csv(Path(out) / f"{name}.csv")


def scan_of_text(format, given):
    separator = "\t" if format == "tsv" else ","

    def scan(table, schema, **options):
        options |= {"separator": separator, "extra_columns": "ignore"}
        return pl.scan_csv(given[table], schema=schema, **options)

    scan.has_moments = False
    return scan


def scan_of_parquet(suite, given):
    """Columns by the names that they have in CSV, and of the types that they have in the file; the options are CSV's."""
    renamed = names_in_parquet(suite)

    def scan(table, schema, **_options):
        names = renamed[table]
        columns = [pl.col(names.get(name, name)).alias(name) for name in schema]
        return pl.scan_parquet(given[table]).select(columns)

    scan.has_moments = True
    return scan


if __name__ == "__main__":
    main(*sys.argv[1:])
