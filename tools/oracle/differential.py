"""Random SQL over random tables: what Caudal answers is what DuckDB answers, and SQLite where it speaks the same.

    tools/oracle/run                       2,000 queries, as in CI
    CAUDAL_QUERIES=100000 tools/oracle/run more
    CAUDAL_SEED=17 tools/oracle/run        the tables and queries of one seed
    CAUDAL_SEED=17 CAUDAL_QUERY=4 ...      one of its queries, made as small as it still fails
"""

import collections
import os
import random
import sys
import tempfile
import time

import caudal
import data
from compare import difference
from dice import Dice, look_alike
from engines import DuckDB, Refused, SQLite
from grammar import Grammar

QUERIES = 2000
QUERIES_PER_SEED = 25
# Of all queries, how many Caudal may refuse (with a code), and how many DuckDB may.
# Nine in ten of them are correlated subqueries that are not yet taken apart.
REFUSED_SHARE_MAX = 0.15
UNKNOWN_SHARE_MAX = 0.03
ROWS_MAX = 3000


class Seed:
    """One seed's tables in all engines, and its queries."""

    def __init__(self, seed, folder, tables=None):
        self.seed, self.folder = seed, folder
        self.tables = tables or data.tables(seed)
        for table in self.tables:
            table.write(folder)
        self.duckdb, self.sqlite = DuckDB(self.tables, folder), SQLite(self.tables)
        self.shards = random.Random(f"shards {seed}").choice([1, 2, 3, 5, 8])

    def close(self):
        self.duckdb.close()
        self.sqlite.close()

    def queries(self):
        """Some are look-alikes of the one before: one choice differs, and they share what they may."""
        made = []
        for number in range(QUERIES_PER_SEED):
            name = f"{self.seed}/{number}"
            tape = look_alike(name, made[-1].tape) if number % 3 == 2 else ()
            made.append(Grammar(Dice(name, tape), self.tables).statement())
        return made

    def expected(self, query):
        """(who, rows) of each engine that has an answer; raises Refused if DuckDB has none."""
        answers = [("DuckDB", self.duckdb.answer(query.sql))]
        if query.sqlite:
            try:
                answers.append(("SQLite", self.sqlite.answer(query.sql)))
            except Refused:
                pass
        return answers

    def ours(self, queries):
        """queries: {name: Query} -> {name: Outcome}, all in one run."""
        tables = [(table.name, table.columns, [f"{table.name}_*.csv"]) for table in self.tables]
        sql = {name: query.sql for name, query in queries.items()}
        return caudal.run(tables, self.folder, sql, ["--shards", str(self.shards), "--threads", "2"])


def verdict(query, expected, outcome):
    """None, or why the outcome is wrong. A coded refusal is not wrong."""
    if outcome.rows is None:
        return None if outcome.code else "a failure without a code"
    reasons = []
    for who, rows in expected:
        reason = difference(outcome.rows, rows, query.ordered)
        if reason:
            reasons.append(f"{reason} ({who})")
    return "; ".join(reasons) or None


class Report:
    def __init__(self):
        self.counts = collections.Counter()
        self.codes = collections.Counter()
        self.samples = {}
        self.dialects = []
        self.failures = []

    def failure(self, seed, number, query, expected, outcome, why):
        self.failures.append(f"{seed.seed}/{number}")
        print(f"\nDIFFERENT: CAUDAL_SEED={seed.seed} CAUDAL_QUERY={number}, {seed.shards} shards: {why}")
        print(f"{query.sql};\n-- Caudal\n{outcome}")
        for who, rows in expected:
            print(f"-- {who}\n{caudal.show(rows)}")
        sys.stdout.flush()

    def refusal(self, seed, number, query, outcome):
        self.counts["refused"] += 1
        self.codes[outcome.code] += 1
        self.samples.setdefault(outcome.code, []).append((f"{seed.seed}/{number}: {outcome.said}", query.sql))


def check_seed(number, report):
    with tempfile.TemporaryDirectory() as folder:
        seed = Seed(number, folder)
        try:
            check(seed, report)
        finally:
            seed.close()


def check(seed, report):
    asked, expected = {}, {}
    for number, query in enumerate(seed.queries()):
        report.counts["queries"] += 1
        try:
            answers = seed.expected(query)
        except Refused as refused:
            if "nterrupt" in str(refused):
                report.counts["too large"] += 1
                continue
            # What overflows there must not be answered here.
            kind = "overflow" if "Out of Range" in str(refused) or "onversion" in str(refused) else "unknown"
            report.counts[f"{kind} to DuckDB"] += 1
            report.samples.setdefault(kind, []).append((str(refused), query.sql))
            if kind == "unknown":
                continue
            answers = []
        if answers and len(answers[0][1]) > ROWS_MAX:
            report.counts["too large"] += 1
            continue
        if len(answers) == 2 and difference(answers[0][1], answers[1][1], query.ordered):
            report.counts["dialect"] += 1
            report.dialects.append(query.sql)
            continue
        asked[f"q{number}"], expected[f"q{number}"] = query, answers
    alone = random.Random(f"alone {seed.seed}").sample(sorted(asked), min(1, len(asked)))
    outcomes = seed.ours(asked)
    judge(seed, report, asked, expected, outcomes)
    for name in alone:
        judge(seed, report, asked, expected, seed.ours({name: asked[name]}), "alone")


def judge(seed, report, asked, expected, outcomes, how="together"):
    for name, outcome in outcomes.items():
        query, answers = asked[name], expected[name]
        why = verdict(query, answers, outcome)
        # DuckDB takes a small literal for 32 bits, which the default of lag and lead then overflows.
        is_narrow = "lag(" in query.sql or "lead(" in query.sql
        if outcome.rows is not None and not answers and not is_narrow:
            why = "answered, though it overflows"
        if why:
            report.failure(seed, int(name[1:]), query, answers, outcome, f"{how}: {why}")
        elif how == "alone":
            report.counts["also alone"] += 1
        elif outcome.rows is None:
            report.refusal(seed, int(name[1:]), query, outcome)
        else:
            report.counts["equal"] += 1
            report.counts["equal to SQLite"] += len(answers) == 2
            report.counts["rows"] += len(outcome.rows)
            report.counts["no rows"] += not outcome.rows


def main():
    only, wanted = os.environ.get("CAUDAL_SEED"), int(os.environ.get("CAUDAL_QUERIES", QUERIES))
    if only and os.environ.get("CAUDAL_QUERY"):
        from shrink import shrink

        return shrink(int(only), int(os.environ["CAUDAL_QUERY"]))
    first = int(os.environ.get("CAUDAL_FIRST_SEED", 0))
    seeds = [int(only)] if only else range(first, first + -(-wanted // QUERIES_PER_SEED))
    report, started = Report(), time.monotonic()
    for number in seeds:
        check_seed(number, report)
    counts = report.counts
    print(f"\n{dict(counts)} in {time.monotonic() - started:.0f} s")
    for code, number in report.codes.most_common():
        print(f"refused with {code}: {number}")
    for kind, samples in report.samples.items():
        for said, sql in samples[: int(os.environ.get("CAUDAL_SAMPLES", 2))]:
            print(f"-- {kind}: {said}\n{sql};")
    for sql in report.dialects[:5]:
        print(f"-- DuckDB and SQLite differ:\n{sql};")
    if report.failures:
        print(f"FAILED: {len(report.failures)} differences: {' '.join(report.failures)}")
        return 1
    if only is None and wanted >= QUERIES:
        for what, most in (("refused", REFUSED_SHARE_MAX), ("unknown to DuckDB", UNKNOWN_SHARE_MAX)):
            if counts[what] > most * counts["queries"]:
                print(f"FAILED: {counts[what]} of {counts['queries']} queries {what}, more than {most:.0%}")
                return 1
        if counts["equal"] < 0.8 * counts["queries"] or counts["equal to SQLite"] < 0.2 * counts["queries"]:
            print("FAILED: too few answers to compare")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
