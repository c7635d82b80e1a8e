"""ClickBench's 43 queries on generated rows: Caudal's answers are DuckDB's.

    tools/oracle/run clickbench [ROWS] [SHARDS,...]

The texts are taken from the package of DataFusion's own tests, which is fetched once. Where they cut off rows
among equals, all columns order; thresholds are as much smaller as the table is.
"""

import os
import random
import re
import sys
import tarfile
import time
import urllib.request
from pathlib import Path

import caudal
import duckdb
from tpc import told

PACKAGE = "https://static.crates.io/crates/datafusion-sqllogictest/datafusion-sqllogictest-55.2.0.crate"
INTEGERS = (
    "WatchID UserID CounterID ClientIP RegionID AdvEngineID SearchEngineID ResolutionWidth IsRefresh IsLink IsDownload"
    " DontCountHits TraficSourceID MobilePhone URLHash RefererHash WindowClientWidth WindowClientHeight EventTime"
).split()
TEXTS = "SearchPhrase MobilePhoneModel URL Title Referer".split()
SECONDS_MAX = 1800


def texts(folder):
    package = folder / "slt.crate"
    if not package.exists():
        request = urllib.request.Request(PACKAGE, headers={"User-Agent": "caudal-oracle"})
        package.write_bytes(urllib.request.urlopen(request, timeout=60).read())
    with tarfile.open(package) as tar:
        member = next(m for m in tar if m.name.endswith("test_files/clickbench.slt"))
        lines = tar.extractfile(member).read().decode().split("\n")
    lines = lines[lines.index("## Q0") :]
    return [line.rstrip(";") for line in lines if line.upper().startswith("SELECT")][:43]


def untied(sql, columns):
    """Rows that are cut off are cut off in an order of all columns."""
    sql = sql.replace("> 100000", "> 100")
    sql = re.sub(r"OFFSET (\d+)", lambda match: f"OFFSET {int(match[1]) // 100}", sql)
    if "LIMIT" not in sql:
        return sql
    every = ", ".join(str(n + 1) for n in range(columns))
    if "ORDER BY" not in sql:
        return sql.replace(" LIMIT", f" ORDER BY {every} LIMIT")
    return sql.replace(" LIMIT", f", {every} LIMIT")


def generate(folder, rows):
    """Skewed, as the web is. The constants that the queries look for are there."""
    chance = random.Random(1)
    pick = lambda few: few[min(int(chance.expovariate(1.2)), len(few) - 1)]
    hosts = ["google.com", "www.google.com", "yandex.ru", "example.org", "news.example.org", "autos.example.com"]
    words = ["car", "buy", "google", "weather", "Mendoza", "ñandú", "музыка", "flights", "cheap", "2013"]
    with open(folder / "hits.csv", "w", encoding="utf-8") as file:
        file.write(",".join([*INTEGERS, *TEXTS, "EventDate"]) + "\n")
        for row in range(rows):
            second = 1372636800 + (row * 7919) % (31 * 86400)
            url = lambda: f"http://{pick(hosts)}/{pick(words)}/{chance.randrange(200)}" if chance.random() < 0.95 else ""
            values = {
                "WatchID": chance.randrange(2**62), "UserID": chance.choice([435090932899640449, chance.randrange(rows // 5) * 7**15]),
                "CounterID": chance.choice([62, 62, chance.randrange(50)]), "ClientIP": chance.randrange(-(2**31), 2**31) // 2**18,
                "RegionID": int(chance.expovariate(0.05)), "AdvEngineID": pick([0, 0, 2, 3, 27]), "SearchEngineID": pick([0, 2, 3]),
                "ResolutionWidth": chance.choice([1024, 1366, 1920, 0]), "IsRefresh": int(chance.random() < 0.15),
                "IsLink": int(chance.random() < 0.5), "IsDownload": int(chance.random() < 0.05), "DontCountHits": int(chance.random() < 0.1),
                "TraficSourceID": chance.choice([-1, 0, 6, 3]), "MobilePhone": chance.randrange(6),
                "URLHash": chance.choice([2868770270353813622, chance.randrange(2**60)]),
                "RefererHash": chance.choice([3594120000172545465, chance.randrange(2**60)]),
                "WindowClientWidth": chance.randrange(300) * 4, "WindowClientHeight": chance.randrange(200) * 4, "EventTime": second,
                "SearchPhrase": " ".join(pick(words) for _ in range(chance.randrange(3))), "MobilePhoneModel": pick(["", "iPad", "N95", "XT"]),
                "URL": url(), "Title": pick(["", "Google it", "Home", "News of the day"]), "Referer": url(),
                "EventDate": time.strftime("%Y-%m-%d", time.gmtime(second)),
            }  # fmt: skip
            file.write(",".join(str(values[name]) for name in [*INTEGERS, *TEXTS, "EventDate"]) + "\n")


def main(arguments):
    rows, shards = [*arguments, *["100000", "1,3,8"][len(arguments) :]]
    folder = Path(os.environ.get("CAUDAL_ORACLE_DATA", "/tmp/oracle")) / f"clickbench-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "ready").exists():
        generate(folder, int(rows))
        (folder / "ready").touch()
    columns = dict.fromkeys(INTEGERS, "int") | dict.fromkeys(TEXTS, "text") | {"EventDate": "date"}
    connection = duckdb.connect()
    connection.execute("CREATE MACRO octet_length(x) AS strlen(x)")
    connection.execute("CREATE MACRO to_timestamp_seconds(x) AS make_timestamp(x * 1000000)")
    types = {name: {"int": "BIGINT", "text": "VARCHAR", "date": "DATE"}[ty] for name, ty in columns.items()}
    connection.execute(f"CREATE TABLE hits AS FROM read_csv('{folder}/hits.csv', header = true, nullstr = '', columns = {types})")
    queries, expected = {}, {}
    for number, sql in enumerate(texts(folder)):
        name = f"q{number:02}"
        queries[name] = untied(sql, len(connection.execute(sql).description))
        expected[name] = connection.execute(queries[name]).fetchall()
    bad = 0
    for count in shards.split(","):
        started = time.monotonic()
        outcomes = caudal.run([("hits", columns, ["hits.csv"])], folder, queries, ["--shards", count], SECONDS_MAX)
        bad += told("clickbench", count, queries, expected, outcomes, time.monotonic() - started)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
