"""DuckDB and SQLite, set up to read SQL as Caudal does where a setting decides (docs/dialect.md)."""

import datetime
import sqlite3
import threading
from decimal import Decimal

import duckdb

DUCKDB_TYPES = {"int": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "bool": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP"}
SECONDS_MAX = 3


class Refused(Exception):
    """The engine has no answer; its message says why."""


class DuckDB:
    name = "DuckDB"

    def __init__(self, tables, folder):
        self.connection = duckdb.connect(config={"threads": 1})
        # Integers divide to integers, and NULL sorts as the largest value, as in PostgreSQL.
        self.connection.execute("SET integer_division = true")
        self.connection.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
        # DuckDB 1.5.5 lets what a join looks for choose the rows below DISTINCT ON.
        self.connection.execute("SET disabled_optimizers = 'join_filter_pushdown'")
        for table in tables:
            types = {name: DUCKDB_TYPES.get(ty, ty) for name, ty in table.columns.items()}
            columns = ", ".join(f'"{name}" {ty}' for name, ty in types.items())
            self.connection.execute(f"CREATE TABLE {table.name} ({columns})")
            if table.rows:
                spec = "{" + ", ".join(f"'{name}': '{ty}'" for name, ty in types.items()) + "}"
                self.connection.execute(
                    f"INSERT INTO {table.name} FROM read_csv('{folder}/{table.name}_*.csv', header = true,"
                    f" delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = true,"
                    f" auto_detect = false, columns = {spec})"
                )

    def answer(self, sql):
        watch = threading.Timer(SECONDS_MAX, self.connection.interrupt)
        watch.start()
        try:
            return self.connection.execute(sql).fetchall()
        except (duckdb.Error, RuntimeError) as error:
            raise Refused(str(error).split("\n")[0]) from None
        finally:
            watch.cancel()

    def close(self):
        self.connection.close()


class SQLite:
    name = "SQLite"

    def __init__(self, tables, _folder=None):
        if sqlite3.sqlite_version_info < (3, 39):
            raise SystemExit(f"SQLite {sqlite3.sqlite_version} is too old: FULL JOIN came with 3.39")
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.execute("PRAGMA case_sensitive_like = ON")
        for table in tables:
            columns = ", ".join(f'"{name}" {sqlite_type(ty)}' for name, ty in table.columns.items())
            self.connection.execute(f"CREATE TABLE {table.name} ({columns})")
            marks = ", ".join("?" * len(table.columns))
            rows = ([sqlite_value(value) for value in row] for row in table.rows)
            self.connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)

    def answer(self, sql):
        watch = threading.Timer(SECONDS_MAX, self.connection.interrupt)
        watch.start()
        try:
            return self.connection.execute(sql).fetchall()
        except sqlite3.Error as error:
            raise Refused(str(error)) from None
        finally:
            watch.cancel()

    def close(self):
        self.connection.close()


def sqlite_type(ty):
    return {"int": "INTEGER", "bool": "INTEGER", "float": "REAL"}.get(ty, "TEXT")


def sqlite_value(value):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (Decimal, datetime.date)):
        return str(value)
    return value
