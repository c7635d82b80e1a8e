"""Random expressions of a wanted type, over the columns in scope.

Only what Caudal, DuckDB and (unless `duckdb_only` was said) SQLite mean the same by; what they do not is in
docs/dialect.md. The first alternative of each list is the simplest one.
"""

from dataclasses import dataclass

TYPES = ["int", "text", "float", "bool", "big", "date", "timestamp", "decimal"]
COMPARISONS = ["=", "<", ">", "<=", ">=", "<>"]
DUCKDB_ONLY = {"date", "timestamp", "decimal"}
PARTS = ["year", "month", "day", "quarter", "dow", "doy", "week", "hour", "minute"]


@dataclass(frozen=True)
class Column:
    sql: str
    ty: str
    # Named without its table: would mean another column inside a subquery.
    bare: bool = False


def kind_of(ty, name=""):
    """The generator's type of a table's column."""
    if name == "big":
        return "big"
    return "decimal" if ty.startswith("decimal") else ty


class Expressions:
    """To be mixed into the grammar, which has `dice`, `scalar_subquery` and `subquery_predicate`."""

    def duckdb_only(self):
        self.sqlite = False

    def of_type(self, scope, ty):
        return [column for column in scope if column.ty == ty]

    def literal(self, ty):
        d = self.dice
        match ty:
            case "int":
                return str(d.among([1, 0, 2, 3, 5, -1, 7, 20, -40]))
            case "big":
                return d.among(["9223372036854775807", "0", "9007199254740993", "-9223372036854775807", "7"])
            case "float":
                return f"CAST({d.among(['1.5', '0.0', '-2.25', '10', '0.125', '-50'])} AS DOUBLE)"
            case "text":
                return d.among(["'a'", "'ab'", "'lime'", "''", "'it''s'", "'12'", "'Lime'", "'zz'"])
            case "bool":
                return d.among(["true", "false"])
            case "date":
                return d.among(["DATE '2021-06-01'", "DATE '2020-02-29'", "DATE '1970-01-01'", "CAST('2021-12-31' AS DATE)"])
            case "timestamp":
                return d.among(["TIMESTAMP '2021-06-01 12:00:00'", "CAST('2021-03-01 00:00:00.5' AS TIMESTAMP)"])
        return d.among(["CAST('1.25' AS DECIMAL(10,2))", "CAST(3 AS DECIMAL(10,2))", "CAST('-0.01' AS DECIMAL(10,2))"])

    def leaf(self, scope, ty):
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        columns = self.of_type(scope, ty)
        if columns and not self.dice.one_in(5):
            return self.dice.among(columns).sql
        if self.dice.one_in(12):
            return f"CAST(NULL AS {self.sql_type(ty)})"
        return self.literal(ty)

    def sql_type(self, ty):
        return {
            "int": "BIGINT", "big": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "bool": "BOOLEAN",
            "date": "DATE", "timestamp": "TIMESTAMP", "decimal": "DECIMAL(10,2)",
        }[ty]  # fmt: skip

    def expression(self, scope, ty, depth):
        d = self.dice
        if depth <= 0 or d.below(5) < 2:
            return self.leaf(scope, ty)
        general = d.below(9)
        if general == 6 and d.one_in(4):
            subject = self.comparable(scope)
            whens = f" WHEN {self.literal(subject)} THEN {self.expression(scope, ty, depth - 1)}"
            return f"CASE {self.leaf(scope, subject)}{whens} ELSE {self.leaf(scope, ty)} END"
        if general == 6:
            whens = "".join(
                f" WHEN {self.predicate(scope, depth - 1)} THEN {self.expression(scope, ty, depth - 1)}"
                for _ in range(d.between(1, 2))
            )
            other = d.among([f" ELSE {self.leaf(scope, ty)}", ""])
            return f"CASE{whens}{other} END"
        if general == 7:
            function = d.among(["coalesce", "nullif"])
            return f"{function}({self.expression(scope, ty, depth - 1)}, {self.leaf(scope, ty)})"
        if general == 8 and self.subqueries > 0 and ty != "bool":
            return self.scalar_subquery(scope, ty)
        part = lambda wanted=ty: self.expression(scope, wanted, depth - 1)
        match ty:
            case "int":
                return self.integer(scope, part, depth)
            case "float":
                return self.floating(part)
            case "text":
                return self.textual(part)
            case "bool":
                return f"({self.predicate(scope, depth - 1)})"
            case "date":
                return self.dated(part)
            case "timestamp":
                return self.timed(part)
            case "decimal":
                return self.exact(part)
        return self.leaf(scope, ty)

    def integer(self, scope, part, depth):
        d = self.dice
        match d.below(10 if self.portable else 13):
            case 0:
                return f"({part()} + {part()})"
            case 1:
                return f"({part()} - {part()})"
            case 2:
                # Grouped to the right: text that leaves the parentheses out says something else.
                return f"({self.leaf(scope, 'int')} - ({self.leaf(scope, 'int')} - {self.leaf(scope, 'int')}))"
            case 3:
                return f"{self.leaf(scope, 'int')} * {d.among([2, 3, -1])}"
            case 4:
                return f"({part()} % {d.among([3, 5, 7])})"
            case 5:
                return f"({part()} / {d.among([2, 3, -4])})"
            case 6:
                return f"abs({part()})"
            case 7:
                return f"length({part('text')})"
            case 8:
                return f"CAST({part('bool')} AS BIGINT)"
            case 9:
                return f"-({part()})"
            case 10:
                self.duckdb_only()
                name = d.among(PARTS)
                ty = "timestamp" if name in ("hour", "minute") else d.among(["date", "timestamp"])
                return f"CAST(extract({name} FROM {part(ty)}) AS BIGINT)"
            case 11:
                self.duckdb_only()
                choices = [
                    lambda: f"greatest({part()}, {part()})",
                    lambda: f"least({part()}, {part()})",
                    lambda: f"CAST(floor({part('float')}) AS BIGINT)" if not self.wild else part(),
                    lambda: f"TRY_CAST({part('text')} AS BIGINT)",
                    lambda: f"strpos({part('text')}, {self.literal('text')})",
                    lambda: f"CAST(sign({part()}) AS BIGINT)",
                    lambda: f"({part()} & {d.among([3, 6, 255])})",
                    lambda: f"({part()} | {d.among([3, 6, 255])})",
                    lambda: f"({part('date')} - {part('date')})",
                    lambda: f"{part('big')} {d.among(['+', '-', '*'])} 1",
                ]
                return d.among(choices)()
        return part()

    def floating(self, part):
        d = self.dice
        match d.below(7 if self.portable else 9):
            case 0:
                return f"({part()} + {part()})"
            case 1:
                return f"({part()} - {part()})"
            case 2:
                return f"({part()} * {d.among(['CAST(0.5 AS DOUBLE)', 'CAST(2 AS DOUBLE)'])})"
            case 3:
                return f"({part()} / {d.among(['CAST(4 AS DOUBLE)', 'CAST(0.5 AS DOUBLE)'])})"
            case 4:
                return f"CAST({part('int')} AS DOUBLE)"
            case 5:
                return f"abs({part()})"
            case 6:
                return f"-({part()})"
            case 7:
                self.duckdb_only()
                function = d.among(["floor", "ceil", "round", "sign"])
                return f"CAST(sign({part()}) AS DOUBLE)" if function == "sign" else f"{function}({part()})"
            case 8 if self.wild:
                # Numbers that are none, in ways that give them different bits.
                self.duckdb_only()
                infinite = d.among(["CAST('inf' AS DOUBLE)", "CAST('-inf' AS DOUBLE)", "CAST('nan' AS DOUBLE)"])
                return f"({part()} {d.among(['-', '+', '*'])} {infinite})"
        self.duckdb_only()
        return f"CAST({part('decimal')} AS DOUBLE)"

    def textual(self, part):
        d = self.dice
        match d.below(6 if self.portable else 8):
            case 0:
                return f"({part()} || {part()})"
            case 1:
                return f"substr({part()}, {d.between(1, 3)}, {d.between(1, 3)})"
            case 2:
                return f"replace({part()}, 'a', {self.literal('text')})"
            case 3:
                return f"trim({part()})"
            case 4:
                return f"CAST({part('int')} AS VARCHAR)"
            case 5:
                return f"coalesce({part()}, '-')"
        self.duckdb_only()
        choices = [
            lambda: f"upper({part()})",
            lambda: f"lower({part()})",
            lambda: f"left({part()}, {d.between(1, 3)})",
            lambda: f"right({part()}, {d.between(1, 3)})",
            lambda: f"concat({part()}, {part()})",
            lambda: f"reverse({part()})",
            lambda: f"CAST({part('date')} AS VARCHAR)",
            lambda: f"split_part({part()}, 'a', {d.between(1, 2)})",
            lambda: f"lpad({part()}, {d.between(1, 5)}, '*')",
            lambda: f"CAST({part('decimal')} AS VARCHAR)",
            lambda: f"CAST({part('bool')} AS VARCHAR)",
            lambda: f"concat_ws('/', {part()}, {part()})",
        ]
        return d.among(choices)()

    def dated(self, part):
        d = self.dice
        self.duckdb_only()
        match d.below(4):
            case 0:
                return f"CAST({part('timestamp')} AS DATE)"
            case 1:
                return f"CAST({part()} + INTERVAL '{d.between(1, 40)}' DAY AS DATE)"
            case 2:
                return f"CAST({part()} - INTERVAL '{d.between(1, 13)}' MONTH AS DATE)"
        unit = d.among(["month", "year", "week", "quarter"])
        return f"CAST(date_trunc('{unit}', {part()}) AS DATE)"

    def timed(self, part):
        d = self.dice
        self.duckdb_only()
        match d.below(6):
            case 0:
                return f"CAST({part('date')} AS TIMESTAMP)"
            case 1:
                return f"({part()} + INTERVAL '{d.between(1, 40)}' HOUR)"
            case 2:
                return f"({part()} - INTERVAL '{d.between(1, 13)}' MONTH)"
            case 3:
                return f"({part('date')} {d.among(['+', '-'])} INTERVAL '{d.between(1, 40)}' {d.among(['HOUR', 'MINUTE'])})"
            case 4:
                # As many as a column says.
                return f"({part('date')} + {part('int')} * INTERVAL '1' HOUR)"
        return f"date_trunc('{d.among(['hour', 'day', 'month', 'minute', 'second'])}', {part()})"

    def exact(self, part):
        d = self.dice
        self.duckdb_only()
        match d.below(6):
            case 0:
                return f"({part()} + {part()})"
            case 1:
                return f"({part()} - {part()})"
            case 2:
                return f"abs({part()})"
            case 3:
                return f"CAST({part('int')} AS DECIMAL(12,2))"
            case 4:
                return f"-({part()})"
        return f"({part()} * CAST({d.among([2, 3])} AS DECIMAL(4,1)))"

    def comparable(self, scope):
        """A type that most likely has a column in scope."""
        present = sorted({column.ty for column in scope} - {"bool"}, key=TYPES.index)
        return self.dice.among(present) if present and not self.dice.one_in(6) else "int"

    def predicate(self, scope, depth):
        d = self.dice
        if depth > 0:
            match d.below(12):
                case 6:
                    return f"({self.predicate(scope, depth - 1)} AND {self.predicate(scope, depth - 1)})"
                case 7:
                    return f"({self.predicate(scope, depth - 1)} OR {self.predicate(scope, depth - 1)})"
                case 8:
                    return f"NOT ({self.predicate(scope, depth - 1)})"
                case 9:
                    how = d.among(["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"])
                    return f"(({self.predicate(scope, depth - 1)}) {how})"
                case 10 | 11 if self.subqueries > 0:
                    return self.subquery_predicate(scope)
        ty = self.comparable(scope)
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        part = lambda: self.expression(scope, ty, depth - 1)
        match d.below(9):
            case 0 | 1:
                return f"{part()} {d.among(COMPARISONS)} {self.leaf(scope, ty)}"
            case 2:
                return f"{part()} IS {d.among(['', 'NOT '])}NULL"
            case 3:
                return f"{part()} {d.among(['', 'NOT '])}BETWEEN {self.leaf(scope, ty)} AND {self.leaf(scope, ty)}"
            case 4:
                items = [self.literal(ty) if d.below(4) < 3 else self.leaf(scope, ty) for _ in range(d.between(1, 3))]
                if d.one_in(5):
                    items.append("NULL")
                return f"{part()} {d.among(['', 'NOT '])}IN ({', '.join(items)})"
            case 5:
                pattern = d.among(["'%a%'", "'a%'", "'_b'", "'%e'", "'%'", "''", "'a_%'"])
                if d.one_in(3):
                    # What escapes is none of the letters of the texts.
                    escaped = ["'a!%'", "'!_b'", "'%!%%'", "'!a%'", "'_!_'", "'%!_%'", self.leaf(scope, "text")]
                    pattern = f"{d.among(escaped)} ESCAPE '!'"
                how = "LIKE"
                if not self.portable and d.one_in(4):
                    self.duckdb_only()
                    how = "ILIKE"
                return f"{self.expression(scope, 'text', depth - 1)} {d.among(['', 'NOT '])}{how} {pattern}"
            case 6:
                return f"{part()} IS {d.among(['', 'NOT '])}DISTINCT FROM {self.leaf(scope, ty)}"
            case 7:
                bools = self.of_type(scope, "bool")
                return d.among(bools).sql if bools else self.literal("bool")
        # Numbers of different types.
        if ty in ("int", "float"):
            return f"{self.leaf(scope, 'int')} {d.among(COMPARISONS)} {self.leaf(scope, 'float')}"
        return f"{part()} {d.among(COMPARISONS)} {part()}"
