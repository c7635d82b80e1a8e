"""A query that fails or is refused, made as small as it still does: first its tape, then the rows of its tables."""

import re

import tempfile

import data
from dice import Dice
from grammar import Grammar


def shrink(number, which):
    from differential import Seed

    with tempfile.TemporaryDirectory() as folder:
        seed = Seed(number, folder)
        query = seed.queries()[which]
        seed.close()
    tables = data.tables(number)
    query = smaller_tape(number, tables, query)
    if query is None:
        return 1
    tables = smaller_rows(number, tables, query)
    tell(number, tables, query)
    return 1


def fails(number, tables, query):
    """How it does, or None. Each try has its own files."""
    from differential import Refused, Seed, verdict

    with tempfile.TemporaryDirectory() as folder:
        seed = Seed(number, folder, tables)
        try:
            expected = seed.expected(query)
        except Refused:
            return None
        finally:
            outcome = seed.ours({"q0": query})["q0"]
            seed.close()
        if outcome.code:
            # The words, but not whose column it is about.
            return outcome.code + re.sub(r"\W|\d", "", outcome.said[:70])
        return "different" if verdict(query, expected, outcome) else None


def smaller_tape(number, tables, query):
    how = fails(number, tables, query)
    if not how:
        print(f"it does not fail alone\n{query.sql};")
        return None
    tape, step = list(query.tape), max(1, len(query.tape) // 2)

    def attempt(candidate):
        nonlocal tape, query
        made = Grammar(Dice(0, candidate, wild=False), tables).statement()
        if len(made.sql) < len(query.sql) and fails(number, tables, made) == how:
            tape, query = list(made.tape), made
            return True
        return False

    while step >= 1:
        at = 0
        while at < len(tape):
            zeroed = tape[:at] + [0] * min(step, len(tape) - at) + tape[at + step :]
            cut = tape[:at] + tape[at + step :]
            if not attempt(cut) and not attempt(zeroed):
                at += step
        step //= 2
    return query


def smaller_rows(number, tables, query):
    how = fails(number, tables, query)
    for at, table in enumerate(tables):
        step = max(1, len(table.rows) // 2)
        while step >= 1 and table.rows:
            start = 0
            while start < len(table.rows):
                fewer = data.Table(table.name, table.columns, table.rows[:start] + table.rows[start + step :])
                candidate = tables[:at] + [fewer] + tables[at + 1 :]
                if fails(number, candidate, query) == how:
                    table, tables = fewer, candidate
                else:
                    start += step
            step //= 2
    return tables


def tell(number, tables, query):
    from differential import Seed

    with tempfile.TemporaryDirectory() as folder:
        seed = Seed(number, folder, tables)
        for table in tables:
            if table.name in query.sql:
                print(f"{table.name}({', '.join(f'{n} {ty}' for n, ty in table.columns.items())}):")
                print("\n".join(repr(row) for row in table.rows))
        print(f"{query.sql};\n-- Caudal, {seed.shards} shards\n{seed.ours({'q0': query})['q0']}")
        for who, rows in seed.expected(query):
            print(f"-- {who}\n" + "\n".join(map(repr, rows)))
        seed.close()
