"""Answers a suite's questions with Polars, all in one plan, and writes a CSV file for each.

usage: with_polars.py SUITE OUT NAME=VALUE...    (the files of each table, and each parameter)
"""

import importlib
import sys
from pathlib import Path

import polars as pl


def main(suite, out, *assignments):
    given = dict(assignment.split("=", 1) for assignment in assignments)
    params = {name: int(value) for name, value in given.items() if value.isdigit()}
    questions = importlib.import_module(f"polars_questions.{suite}").questions

    def scan(table, schema, **options):
        return pl.scan_csv(given[table], schema=schema, extra_columns="ignore", **options)

    frames = questions(scan, params)
    answers = pl.collect_all(frames.values(), engine="streaming")
    for name, answer in zip(frames, answers, strict=True):
        answer.write_csv(Path(out) / f"{name}.csv")


if __name__ == "__main__":
    main(*sys.argv[1:])
