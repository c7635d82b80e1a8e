"""How each contender is asked a suite's questions: a command that writes one CSV file per answer."""

import sys
from pathlib import Path

import formats

THREADS = 2

BENCH = Path(__file__).resolve().parent


def environment():
    """What limits every contender to the same threads."""
    return {"BENCH_THREADS": str(THREADS), "POLARS_MAX_THREADS": str(THREADS)}


def caudal(dataset, release, folder, queries):
    """Only these queries; all of the suite where none is named."""
    command = [release / "caudal", "run", dataset.caudal_suite, "--data", dataset.folder]
    command += ["--threads", str(THREADS), "--quiet", "--out", answers(folder)]
    for name, value in params(dataset).items():
        command += ["--param", f"{name}={value}"]
    return command + ["--queries", ",".join(queries)] if queries else command


def duckdb_straight(dataset, release, folder):
    """Every query reads the files it needs."""
    return duckdb(dataset, folder, "VIEW")


def duckdb_loaded(dataset, release, folder):
    """What more than one query reads is loaded first, only the columns that are needed."""
    return duckdb(dataset, folder, "TABLE")


def duckdb(dataset, folder, shared):
    sql = BENCH / "sql" / "duckdb" / dataset.suite.name
    queries = {name: (sql / f"{name}.sql").read_text() for name in dataset.suite.queries}
    tables = formats.duckdb_tables((sql / "tables.sql").read_text(), dataset.format)
    tables = tables.replace("{shared}", shared)
    write_sql(dataset, folder / "sql", tables, queries)
    return [sys.executable, BENCH / "with_duckdb.py", folder / "sql", answers(folder)]


def polars(dataset, release, folder):
    given = {table: dataset.pattern(table) for table in dataset.suite.tables} | params(dataset)
    assignments = [f"{name}={value}" for name, value in given.items()]
    command = [sys.executable, BENCH / "with_polars.py", dataset.suite.name, dataset.format, answers(folder)]
    return command + assignments


def datafusion(dataset, release, folder):
    """The suite's own SQL, on tables that DataFusion reads by itself."""
    suite = dataset.suite.name
    sql = BENCH.parent / "suites" / suite
    queries = {name: (sql / f"{name}.sql").read_text() for name in dataset.suite.queries}
    tables = (BENCH / "sql" / "datafusion" / f"{suite}.sql").read_text()
    write_sql(dataset, folder / "sql", tables, queries)
    return [release / "examples" / "plain_datafusion", folder / "sql", answers(folder)]


CAUDAL = "Caudal"
DUCKDB_STRAIGHT = "DuckDB, straight"
DUCKDB_LOADED = "DuckDB, loaded"
POLARS = "Polars"
DATAFUSION = "DataFusion"

OTHERS = {
    DUCKDB_STRAIGHT: duckdb_straight,
    DUCKDB_LOADED: duckdb_loaded,
    POLARS: polars,
    DATAFUSION: datafusion,
}
# Of other formats than CSV.
OTHERS_OF_FORMATS = {name: command for name, command in OTHERS.items() if name != DATAFUSION}


def others(dataset):
    return OTHERS if dataset.format == "csv" else OTHERS_OF_FORMATS


def starts(release, folder):
    """A command for each contender that only starts and answers `SELECT 1`."""
    folder.mkdir()
    (folder / "tables.sql").touch()
    (folder / "q1.sql").write_text("SELECT 1 AS one")
    in_duckdb = [sys.executable, BENCH / "with_duckdb.py", folder, answers(folder.parent / "none")]
    in_datafusion = [release / "examples" / "plain_datafusion", *in_duckdb[2:]]
    return {
        CAUDAL: [release / "caudal", "query", "--quiet", "-c", "SELECT 1"],
        DUCKDB_STRAIGHT: in_duckdb,
        DUCKDB_LOADED: in_duckdb,
        POLARS: [sys.executable, "-c", "import polars; polars.select(polars.lit(1))"],
        DATAFUSION: in_datafusion,
    }


def answers(folder):
    """Where a contender that works in this folder leaves its answers."""
    answers = folder / "answers"
    answers.mkdir(parents=True, exist_ok=True)
    return answers


def params(dataset):
    return dataset.suite.params(dataset.scale)


def write_sql(dataset, folder, tables, queries):
    """The SQL as files, with the paths of the tables and the values of the parameters in their places."""
    folder.mkdir(parents=True)
    for table in dataset.suite.tables:
        tables = tables.replace(f"{{{table}}}", dataset.pattern(table))
    (folder / "tables.sql").write_text(tables)
    for name, sql in queries.items():
        for param, value in params(dataset).items():
            sql = sql.replace(f"${param}", str(value))
        (folder / f"{name}.sql").write_text(sql)
