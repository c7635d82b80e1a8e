"""Caudal, as everybody runs it: the program, a suite of queries, CSV files; answers as Parquet, which keeps types."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

SECONDS_MAX = 120
# Such as --gateway HOST:PORT, which makes every comparison one with a cluster.
MORE_ARGUMENTS = os.environ.get("CAUDAL_ARGUMENTS", "").split()
ERROR = re.compile(r"^error\[(CDL-\d+)\]: (?:(q\w+): )?(.*)$", re.MULTILINE)


@dataclass
class Outcome:
    """What became of one query: rows, a coded refusal, or (neither) a failure in words."""

    rows: list = None
    columns: list = field(default_factory=list)
    code: str = None
    said: str = ""

    def __str__(self):
        if self.rows is not None:
            return show(self.rows)
        return f"{self.code or 'failure'}: {self.said}"


def show(rows, limit=30):
    lines = [repr(row) for row in sorted(rows, key=repr)[:limit]]
    if len(rows) > limit:
        lines.append(f"... {len(rows)} rows")
    return "\n".join(lines) or "(no rows)"


def program():
    return os.environ.get("CAUDAL_BIN") or "target/debug/caudal"


def write_suite(folder, tables, queries):
    """tables: [(name, {column: type}, [file pattern])]; queries: {name: sql}."""
    lines = ['title = "compared with other engines"']
    for name, columns, files in tables:
        lines += ["[[table]]", f'name = "{name}"', f"files = {files!r}", "columns = ["]
        lines += [f'    {{ name = "{column}", type = "{ty}" }},' for column, ty in columns.items()]
        lines.append("]")
    for name, sql in queries.items():
        lines += ["[[query]]", f'name = "{name}"', 'title = ""', f'file = "{name}.sql"']
        (Path(folder) / f"{name}.sql").write_text(sql, encoding="utf-8")
    (Path(folder) / "suite.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(tables, data, queries, arguments=(), seconds_max=SECONDS_MAX):
    """All the queries in one run. A query that stops it (it cannot be planned) is left out of the next."""
    outcomes, left = {}, dict(queries)
    while left:
        answered = run_once(tables, data, left, arguments, seconds_max)
        outcomes |= answered
        fewer = {name: sql for name, sql in left.items() if name not in answered}
        if len(fewer) == len(left):
            raise AssertionError("a run says something about each query, or fails them all")
        left = fewer
    return outcomes


def run_once(tables, data, queries, arguments, seconds_max):
    with tempfile.TemporaryDirectory() as folder:
        write_suite(folder, tables, queries)
        out = Path(folder) / "out"
        command = [program(), "run", folder, "--data", str(data), "--out", str(out), "--format", "parquet"]
        try:
            done = subprocess.run(
                [*command, "--quiet", *arguments, *MORE_ARGUMENTS], capture_output=True, text=True, timeout=seconds_max, check=False
            )
        except subprocess.TimeoutExpired:
            return failed_all(tables, data, queries, arguments, seconds_max, f"no answer within {seconds_max} s")
        outcomes = {}
        for code, name, said in ERROR.findall(done.stderr):
            if name in queries:
                outcomes[name] = Outcome(code=code, said=said)
        if "panicked at" in done.stderr or done.returncode not in (0, 1, 2):
            said = f"exit code {done.returncode}: {done.stderr[-2000:]}"
            return outcomes | failed_all(tables, data, queries, arguments, seconds_max, said)
        for name in queries:
            path = out / f"{name}.parquet"
            if path.exists() and name not in outcomes:
                outcomes[name] = read(path)
        if not outcomes:
            return failed_all(tables, data, queries, arguments, seconds_max, done.stderr[-2000:])
        return outcomes


def failed_all(tables, data, queries, arguments, seconds_max, said):
    """Of several that failed together, each is asked alone: who is to blame?"""
    if len(queries) == 1:
        code = ERROR.search(said)
        kept = code[1] if code and "panicked" not in said else None
        return {name: Outcome(code=kept, said=said) for name in queries}
    outcomes = {}
    for name, sql in queries.items():
        outcomes |= run_once(tables, data, {name: sql}, arguments, min(seconds_max, 30))
    if all(outcome.rows is not None or outcome.code for outcome in outcomes.values()):
        # Only together.
        first = next(iter(queries))
        outcomes[first] = Outcome(said=f"together with {len(queries) - 1} others: {said}")
    return outcomes


def read(path):
    try:
        result = duckdb.sql(f"SELECT * FROM read_parquet('{path}')")
        return Outcome(rows=result.fetchall(), columns=result.columns)
    except duckdb.Error as error:
        return Outcome(said=f"its Parquet file cannot be read: {error}")
