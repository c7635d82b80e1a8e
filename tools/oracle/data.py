"""Random tables: few keys that meet, NULLs, duplicates, extremes, and now and then no row at all."""

import csv
import datetime
import random
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

# What a column may be called; a name has one type, so that NATURAL and USING find what they can join.
COLUMNS = {
    "k": "int",
    "n": "int",
    "big": "int",
    "f": "float",
    "s": "text",
    "b": "bool",
    "d": "date",
    "w": "timestamp",
    "m": "decimal(12,2)",
    "p": "decimal(20,4)",
    "j": "int",
    "s2": "text",
}
WORDS = [
    "a", "b", "ab", "A", "abc", "lime", "Lime", "a%", "_b", "a longer text than twelve bytes",
    "ñandú", "zz", "12", "-3", "007", "it's", 'say "so"', "x,y", "two words", "é", "日本", "null", "NaN",
]  # fmt: skip
BIG = [
    0, 1, -1, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 2**53, 2**53 + 1, 2**53 - 1, -(2**53) - 1, 2**31,
    2**31 - 1, -(2**31), 10**18, 7,
]  # fmt: skip
FLOATS = ["nan", "inf", "-inf", "-0.0", "0.0"]
DATES = ["2020-02-29", "2021-12-31", "2022-01-01", "1969-12-31", "1970-01-01", "1900-03-01", "2024-12-30"]


@dataclass
class Table:
    name: str
    columns: dict  # name -> type
    rows: list  # tuples of Python values

    def write(self, folder):
        """As CSV in several files: what is exchanged comes in more than one fragment."""
        parts = max(1, min(3, len(self.rows) // 20))
        for part in range(parts):
            path = Path(folder) / f"{self.name}_{part}.csv"
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(self.columns)
                writer.writerows([text(v) for v in row] for row in self.rows[part::parts])


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)


def tables(seed):
    chance = random.Random(f"data {seed}")
    return [table(chance, f"t{n}") for n in range(3)]


def table(chance, name):
    others = [column for column in COLUMNS if column != "k"]
    chosen = {"k", "n", *chance.sample(others, chance.randrange(4, 8))}
    columns = [column for column in COLUMNS if column in chosen]
    if chance.random() < 0.3:
        chance.shuffle(columns)
    count = chance.choices([0, chance.randrange(1, 8), chance.randrange(8, 40), chance.randrange(40, 120)], [1, 5, 8, 6])[0]
    # Most tables are tame, so that most queries are about something else than NaN and the like.
    wild = chance.random() < 0.2
    nulls = chance.choice([0, 0.1, 0.1, 0.3])
    rows = [
        tuple(None if chance.random() < nulls else value(chance, column, wild) for column in columns)
        for _ in range(count)
    ]
    return Table(name, {column: COLUMNS[column] for column in columns}, rows)


def value(chance, column, wild):
    match column:
        case "k":
            return chance.randrange(0, 7)
        case "j":
            return chance.randrange(-3, 12)
        case "n":
            return chance.randrange(-50, 50)
        case "big":
            return chance.choice(BIG)
        case "f" if wild and chance.random() < 0.3:
            return float(chance.choice(FLOATS))
        case "f":
            return chance.randrange(-400, 400) / 8
        case "b":
            return chance.random() < 0.5
        case "d":
            return date(chance)
        case "w":
            second = chance.randrange(0, 86400) if chance.random() < 0.7 else 0
            moment = datetime.datetime.combine(date(chance), datetime.time())
            micros = chance.choice([0, 0, 500000, 123456])
            return moment + datetime.timedelta(seconds=second, microseconds=micros)
        case "m":
            return Decimal(chance.randrange(-99999, 99999)) / 100
        case "p":
            return Decimal(chance.choice([0, 1, -1, 12345, 10**19, 99999999999999999999 // 7, 5000, -5000])) / 10000
    return chance.choice(WORDS)


def date(chance):
    if chance.random() < 0.2:
        return datetime.date.fromisoformat(chance.choice(DATES))
    return datetime.date(2021, 1, 1) + datetime.timedelta(days=chance.randrange(0, 40) * 13)
