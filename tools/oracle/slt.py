"""Queries of sqllogictest files (DataFusion's, DuckDB's, SQLite's), answered by DuckDB and by Caudal.

    tools/oracle/run slt FOLDER-OR-FILE...

DuckDB carries out the statements; what its tables then hold is written as CSV for Caudal. A query that
DuckDB does not take is not asked; where Caudal gives what the file itself expects, the difference is only told.
"""

import collections
import re
import sys
import tempfile
from pathlib import Path

import caudal
import data
import duckdb
from compare import difference

TYPES = {
    "TINYINT": "int", "SMALLINT": "int", "INTEGER": "int", "BIGINT": "int", "UTINYINT": "int", "USMALLINT": "int",
    "UINTEGER": "int", "VARCHAR": "text", "DOUBLE": "float", "FLOAT": "float", "BOOLEAN": "bool", "DATE": "date",
    "TIMESTAMP": "timestamp", "TIMESTAMP_NS": "timestamp", "TIMESTAMP_S": "timestamp", "TIMESTAMP_MS": "timestamp",
}  # fmt: skip
ROWS_MAX = 20000


def records(path):
    """(kind, sql, expected lines) of each record of a file."""
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace").replace("\r", "")):
        lines = [line for line in block.split("\n") if not line.startswith("#")]
        while lines and not lines[0].strip():
            lines.pop(0)
        skipped = False
        while lines and re.match(r"(onlyif|skipif|hash-threshold|halt|mode|require|foreach|loop|include)", lines[0]):
            skipped |= lines[0].startswith(("onlyif", "foreach", "loop"))
            lines.pop(0)
        head, rest = (lines[0].split(), lines[1:]) if lines else ([], [])
        if not head or skipped:
            continue
        if head[0] == "statement":
            yield "statement", "\n".join(rest), []
        elif head[0] == "query" and len(head) > 1 and head[1] != "error":
            at = next((n for n, line in enumerate(rest) if line.startswith("----")), len(rest))
            yield ("ordered" if "nosort" in head else "query"), "\n".join(rest[:at]), rest[at + 1 :]


class File:
    def __init__(self, path):
        self.path = path
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET integer_division = true; SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
        self.asked = {}
        self.counts = collections.Counter()

    def run(self):
        for kind, sql, expected in records(self.path):
            sql = sql.strip().rstrip(";")
            if kind == "statement":
                if re.match(r"(?is)\s*(create|insert|drop|delete|update|copy|alter)", sql):
                    self.flush()
                    self.statement(sql)
            elif re.match(r"(?is)\s*(select|with|values|\()", sql):
                self.query(kind, sql, expected)
        self.flush()
        self.connection.close()

    def statement(self, sql):
        external = re.match(r"(?is)create\s+(?:unbounded\s+)?external\s+table\s+(?:if not exists\s+)?(\S+)\s*(\(.*?\))?\s*stored as", sql)
        if external:
            sql = self.external(sql, external)
        try:
            self.connection.execute(sql)
        except (duckdb.Error, RuntimeError):
            self.counts["statements DuckDB refused"] += 1

    def external(self, sql, match):
        place = re.search(r"(?is)location\s+'([^']*)'", sql)
        if not place or "stored as csv" not in re.sub(r"\s+", " ", sql.lower()):
            return "not for us"
        roots = [Path(p) for p in self.path.parents]
        found = next((root / place[1] for root in roots if (root / place[1]).exists()), None)
        if found is None:
            return "not there"
        return f"CREATE TABLE {match[1]} AS FROM read_csv('{found}')"

    def query(self, kind, sql, expected):
        self.counts["queries"] += 1
        try:
            rows = self.connection.execute(sql).fetchmany(ROWS_MAX + 1)
        except (duckdb.Error, RuntimeError):
            self.counts["DuckDB refused"] += 1
            return
        if len(rows) > ROWS_MAX or not rows and re.match(r"(?i)\s*explain", sql):
            self.counts["too large"] += 1
            return
        self.asked[f"q{len(self.asked)}"] = (sql, rows, expected)
        if len(self.asked) >= 100:
            self.flush()

    def tables(self, folder):
        """What DuckDB holds now, as CSV. An empty text is NULL in CSV, so there is none."""
        made = []
        listed = self.connection.execute("SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        for (name,) in listed:
            quoted = '"' + name.replace('"', '""') + '"'
            try:
                described = self.connection.execute(f"DESCRIBE {quoted}").fetchall()
                rows = self.connection.execute(f"FROM {quoted}").fetchall()
            except duckdb.Error:
                continue
            columns = {column: TYPES.get(ty, ty.lower() if ty.startswith("DECIMAL") else None) for column, ty, *_ in described}
            if None in columns.values() or not re.fullmatch(r"\w+", name):
                continue
            if any(value == "" for row in rows for value in row):
                continue
            data.Table(name, columns, rows).write(folder)
            made.append((name, columns, [f"{name}_?.csv"]))
        return made

    def flush(self):
        if not self.asked:
            return
        asked, self.asked = self.asked, {}
        with tempfile.TemporaryDirectory() as folder:
            tables = self.tables(folder)
            outcomes = caudal.run(tables, folder, {name: sql for name, (sql, _, _) in asked.items()}, ["--shards", "3"])
        for name, (sql, rows, expected) in asked.items():
            self.judge(sql, rows, expected, outcomes[name])

    def judge(self, sql, rows, expected, outcome):
        if outcome.rows is None:
            self.counts[outcome.code or "failures"] += 1
            if outcome.code in (None, "CDL-2005", "CDL-2008", "CDL-3002", "CDL-3003") or outcome.code is None:
                print(f"\n== {self.path.name}: {outcome.code}: {outcome.said[:400]}\n{sql}")
            return
        why = difference(outcome.rows, rows, False)
        if not why:
            self.counts["equal"] += 1
            return
        cells = sorted(" ".join(line.split()) for line in expected if line.strip())
        ours = sorted(" ".join(map(shown, row)) for row in outcome.rows)
        as_expected = cells == ours
        self.counts["as the file expects" if as_expected else "different"] += 1
        mark = "dialect?" if as_expected else "DIFFERENT"
        print(f"\n== {self.path.name}: {mark}: {why}\n{sql}\n-- Caudal\n{caudal.show(outcome.rows, 8)}\n-- DuckDB\n{caudal.show(rows, 8)}")
        if not as_expected:
            print("-- file\n" + "\n".join(expected[:8]))


def shown(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value == "":
        return "(empty)"
    return str(value)


def main(arguments):
    paths = [path for name in arguments for path in ([Path(name)] if Path(name).is_file() else sorted(Path(name).rglob("*.slt")) + sorted(Path(name).rglob("*.test")))]
    total = collections.Counter()
    for path in paths:
        file = File(path)
        try:
            file.run()
        except Exception as error:  # noqa: BLE001 - one file that cannot be read does not hide the others
            print(f"== {path}: {type(error).__name__}: {error}")
        total += file.counts
        print(f"-- {path.name}: {dict(file.counts)}", file=sys.stderr, flush=True)
    print(dict(total))
    return 1 if total["different"] or total["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
