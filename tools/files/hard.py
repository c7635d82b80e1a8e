"""Tables of values that some format may well get wrong: extremes, texts of every script with all that is special in some dialect."""

import datetime
import random
from decimal import Decimal

import rows  # noqa: F401, makes tools/oracle known

import data

PIECES = [
    ",", ";", "\t", "|", '"', '""', "'", "\\", "\\\\", "\n", "\r\n", "\r", " ", "  ", "#", "a", "Z", "0", "-1", "1.5", "NULL", "null", "NA", "\\N", "true",
    "ñ", "é", "日本", "🦀", "\u0301", "\u200b", "\u202e", "\ufeff", "\u00a0", "\x1b[31m", "\x7f", "{", "}", "[", "]", ":", "{}", "[1]", "%d", "2024-02-29", "x" * 300,
]  # fmt: skip
INTEGERS = [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, 2**31, -(2**31) - 1, 10**18]
FLOATS = [0.0, -0.0, 1.5, -1e-300, 1.7976931348623157e308, 5e-324, 0.1, 1 / 3, 123456789.125, 1e22, 2.0**53]
DECIMALS = [Decimal(0), Decimal("0.0001"), Decimal("-9999999999999999.9999"), Decimal("12345.6789"), Decimal("-0.5")]
DAYS = [datetime.date(1, 1, 1), datetime.date(1582, 10, 15), datetime.date(1969, 12, 31), datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]
MOMENTS = [datetime.datetime(1, 1, 1), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(2024, 2, 29, 12, 0, 0, 1), datetime.datetime(9999, 12, 31, 23, 59, 59)]
COLUMNS = {"id": "int", "i": "int", "f": "float", "t": "text", "b": "bool", "d": "date", "w": "timestamp", "m": "decimal(20,4)", "u": "text"}


class Hard:
    def __init__(self, seed):
        self.chance = random.Random(f"hard {seed}")

    def table(self):
        count = self.chance.choice([1, 3, 30, 300])
        rows = [tuple([n, *(self.value(ty) for ty in list(COLUMNS.values())[1:])]) for n in range(count)]
        # Columns without any value would be of any type.
        rows[0] = (0, 1, 0.5, "text", True, DAYS[4], MOMENTS[2], DECIMALS[3], "text")
        return data.Table("hard", COLUMNS, rows)

    def value(self, ty):
        chance = self.chance
        if chance.random() < 0.15:
            return None
        match ty:
            case "int":
                return chance.choice([chance.choice(INTEGERS), chance.randrange(-(2**63), 2**63)])
            case "float":
                return chance.choice([chance.choice(FLOATS), chance.uniform(-1e6, 1e6)])
            case "bool":
                return chance.random() < 0.5
            case "date":
                return chance.choice(DAYS)
            case "timestamp":
                return chance.choice(MOMENTS)
            case "text":
                # An empty text is NULL in CSV, and Python does not quote what then ends a line as on Windows.
                return "".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 6))).rstrip("\r") or "x"
        return chance.choice(DECIMALS)
