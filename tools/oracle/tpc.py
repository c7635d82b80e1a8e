"""TPC-DS's 99 and TPC-H's 22 queries, data and texts from DuckDB's extensions: Caudal's answers are DuckDB's.

    tools/oracle/run tpcds [SCALE] [SHARDS,...]
    tools/oracle/run tpch  [SCALE] [SHARDS,...]

CAUDAL_ONLY=4,11 asks only these; CAUDAL_TOGETHER=20 asks so many in one run (all, unless said: they share a pass).
Data stays in /tmp/oracle (CAUDAL_ORACLE_DATA). The texts are DuckDB's own but for what docs/dialect.md says.
"""

import os
import sys
import time
from pathlib import Path

import caudal
import duckdb
from compare import difference

GENERATORS = {"tpcds": "dsdgen", "tpch": "dbgen"}
TYPES = {"INTEGER": "int", "BIGINT": "int", "VARCHAR": "text", "DATE": "date", "TIME": "text"}
SECONDS_MAX = 3600


def extension(kind):
    package = __import__(f"duckdb_extension_{kind}")
    return next(Path(package.__file__).parent.rglob(f"{kind}.duckdb_extension"))


def connect(kind, scale, folder):
    """DuckDB with the data, which is made and exported once."""
    database = folder / "data.duckdb"
    fresh = not (folder / "ready").exists()
    if fresh:
        folder.mkdir(parents=True, exist_ok=True)
        database.unlink(missing_ok=True)
    connection = duckdb.connect(str(database), config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{extension(kind)}'")
    # What DuckDB says is compared with itself, not with a setting of ours, except where NULLs sort.
    connection.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
    if fresh:
        connection.execute(f"CALL {GENERATORS[kind]}(sf = {scale})")
        for name, columns in tables(connection).items():
            # There is no empty text in a CSV file.
            for column in (column for column, ty in columns.items() if ty == "text"):
                connection.execute(f"UPDATE {name} SET {column} = NULL WHERE {column} = ''")
            connection.execute(f"COPY {name} TO '{folder}/{name}.csv' (HEADER)")
        (folder / "ready").touch()
    return connection


def tables(connection):
    """name -> {column: Caudal's type}"""
    listed = connection.execute("SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index")
    found = {}
    for table, column, ty in listed.fetchall():
        found.setdefault(table, {})[column] = TYPES.get(ty, ty.lower())
    return found


def adapted(kind, sql):
    """DuckDB's text for an engine whose integers divide to integers."""
    return sql.strip().rstrip(";")


def main(arguments):
    kind, scale, shards = [*arguments, *["tpcds", "0.01", "1,3,8"][len(arguments) :]]
    folder = Path(os.environ.get("CAUDAL_ORACLE_DATA", "/tmp/oracle")) / f"{kind}-{scale}"
    connection = connect(kind, scale, folder)
    only = set(filter(None, os.environ.get("CAUDAL_ONLY", "").split(",")))
    texts = connection.execute(f"SELECT query_nr, query FROM {kind}_queries()").fetchall()
    queries = {f"q{number:02}": adapted(kind, sql) for number, sql in texts if not only or str(number) in only}
    listed = [(name, columns, [f"{name}.csv"]) for name, columns in tables(connection).items()]
    expected = {}
    for name, sql in queries.items():
        expected[name] = connection.execute(sql).fetchall()
    connection.close()
    bad, together = 0, int(os.environ.get("CAUDAL_TOGETHER", len(queries)))
    for count in shards.split(","):
        started = time.monotonic()
        outcomes, names = {}, list(queries)
        for at in range(0, len(names), together):
            some = {name: queries[name] for name in names[at : at + together]}
            outcomes |= caudal.run(listed, folder, some, ["--shards", count], SECONDS_MAX)
        bad += told(kind, count, queries, expected, outcomes, time.monotonic() - started)
    return 1 if bad else 0


def told(kind, shards, queries, expected, outcomes, seconds):
    equal = refused = different = 0
    for name in queries:
        outcome = outcomes[name]
        if outcome.rows is None:
            refused += 1
            print(f"{name}: {outcome.code}: {outcome.said[:300]}")
            continue
        why = difference(outcome.rows, expected[name], False)
        if why is None:
            equal += 1
            continue
        different += 1
        print(f"{name}: {why}\n-- Caudal\n{caudal.show(outcome.rows, 6)}\n-- DuckDB\n{caudal.show(expected[name], 6)}")
    rows = sum(len(answer) for answer in expected.values())
    print(f"{kind}, {shards} shards: {equal} of {len(queries)} equal ({rows} rows), {refused} refused, {different} different, {seconds:.0f} s", flush=True)
    return refused + different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
