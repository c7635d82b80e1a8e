"""Random tables written in every format and dialect: the same random queries of them have the same answers.

    tools/files/run differential              as many as in CI
    CAUDAL_SEEDS=200 tools/files/run ...      more
    CAUDAL_SEED=17 tools/files/run ...        the tables and queries of one seed

Tables and queries are those of tools/oracle, which compares answers about CSV with other engines; here all have to agree with
CSV as it is declared there. And of whatever has texts: those that not every format holds.
"""

import concurrent.futures
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from ours import TOO_LONG, code_of, query
from rows import difference, rows, shown
from hard import Hard
from written import FORMATS, PLAIN, asked, written

# Of tools/oracle.
import data
from dice import Dice
from grammar import Grammar

SEEDS = 8
QUERIES = 6
# Formats that each query is asked of: each table is of one, by chance.
TURNS = 3
# Now and then a query multiplies its tables with themselves: it is left out.
SECONDS_MAX = 15


class Seed:
    def __init__(self, seed, folder):
        self.seed, self.folder = seed, Path(folder)
        self.chance = random.Random(f"files {seed}")
        self.tables = data.tables(seed)
        self.tables += [Hard(seed).table()]
        self.sources = {}

    def source(self, table, format):
        """Each is written once."""
        key = (table.name, format.name)
        if key not in self.sources:
            self.sources[key] = written(format, table, self.folder / table.name / str(len(self.sources)), self.chance)
        return self.sources[key]

    def formats(self):
        """One for each table."""
        return {table.name: self.chance.choice([f for f in FORMATS if table.rows or f.holds_none]) for table in self.tables}

    def cases(self):
        """(query, format of each table); all formats have their turn with what is hard."""
        queries = [Grammar(Dice(f"{self.seed}/{n}"), data.tables(self.seed)).statement() for n in range(QUERIES)]
        for query in queries:
            for _ in range(TURNS):
                yield query.sql, query.ordered, self.formats()
        for format in FORMATS:
            if format.holds_none or all(table.rows for table in self.tables):
                yield f"SELECT * FROM {self.tables[-1].name} AS t", False, {table.name: format for table in self.tables}

    def answer(self, sql, formats, seconds_max):
        """(rows, None), or (None, the code of an error)."""
        named = [table for table in self.tables if f"{table.name} " in sql]
        sources = [self.source(table, formats[table.name]) for table in named]
        for table in named:
            sql = asked(formats[table.name], table, sql)
        words = [word for source in sources for word in ("-t", source)]
        with tempfile.TemporaryDirectory() as out:
            found, said = query([*words, "-c", sql, "--shards", "2"], Path(out) / "out", seconds_max=seconds_max)
        return (None, code_of(said) or said) if found is None else (rows(found), None)


def check(number, counts):
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        seed, expected = Seed(number, folder), {}
        for sql, ordered, formats in seed.cases():
            if sql not in expected:
                expected[sql] = seed.answer(sql, dict.fromkeys(formats, PLAIN), SECONDS_MAX)
            right, refusal = expected[sql]
            if refusal == TOO_LONG:
                counts["too large"] += 1
                continue
            found, code = seed.answer(sql, formats, 8 * SECONDS_MAX)
            counts["asked"] += 1
            counts["refused alike"] += refusal is not None and refusal == code
            where = None if code == refusal else f"{code or 'an answer'} instead of {refusal or 'an answer'}"
            if found is not None and right is not None:
                where = difference(found, right, ordered)
                counts["rows"] += len(right)
            if where:
                names = {name: format.name for name, format in formats.items() if f"{name} " in sql}
                failures.append(f"CAUDAL_SEED={number}, {names}: {where}\n{sql}\n{shown(found or [])}\n-- instead of\n{shown(right or [])}")
    return failures


def seeds():
    only, many = os.environ.get("CAUDAL_SEED"), os.environ.get("CAUDAL_SEEDS", str(SEEDS))
    if only:
        return [int(only)]
    return range(-(-SEEDS * int(many[:-1]) // 100) if many.endswith("%") else int(many))


def main():
    counts, failures = Counter(), []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda seed: check(seed, counts), seeds()):
            for failure in found:
                print(f"DIFFERENT {failure}", flush=True)
            failures += found
    print(f"{dict(counts)} of {len(FORMATS)} formats, {len(failures)} different")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
