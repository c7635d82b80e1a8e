"""Random queries over all the clauses of SELECT: sources and joins, groups, windows, set operations, CTEs.

`Grammar(dice, tables).statement()` gives a `Query`. Ties are never left to the engine: where rows are cut off
or numbered, all columns order.
"""

import re
from dataclasses import dataclass

from aggregates import Aggregates
from dependent import Dependent
from expressions import DUCKDB_ONLY, TYPES, Column, Expressions, kind_of
from sources import Sources


@dataclass
class Query:
    sql: str
    ordered: bool
    # Whether SQLite reads it, and reads it the same way.
    sqlite: bool
    tape: list


class Grammar(Expressions, Aggregates, Sources, Dependent):
    def __init__(self, dice, tables):
        self.dice = dice
        # Half of the queries keep to what SQLite has, too.
        self.portable = dice.below(2) == 0
        self.tables = {}
        for table in tables:
            columns = [(name, kind_of(ty, name)) for name, ty in table.columns.items()]
            self.tables[table.name] = [c for c in columns if not (self.portable and c[1] in DUCKDB_ONLY)]
        # NaN and infinities: SQLite has none, casts to integers fail.
        self.wild = any(isinstance(v, float) and v - v != 0 for table in tables for row in table.rows for v in row)
        self.ctes = {}
        self.has_recursion = False
        self.aliases = 0
        self.subqueries = 2
        # The name of a window that has a PARTITION BY only.
        self.partitioned = None
        self.sqlite = not self.wild
        # The order in which the windows of a SELECT count rows, if there may be copies of some.
        self.numbering, self.copies = None, True
        # Whether rows of a GROUP BY are told apart by its keys.
        self.plain_groups = True
        # Whether results that differ in their last digits would be compared with anything.
        self.inexact = False

    def alias(self, letter="x"):
        self.aliases += 1
        return f"{letter}{self.aliases}"

    def statement(self):
        d = self.dice
        prefix = self.common_tables()
        ending = d.below(6)
        if ending >= 4:
            body, types = self.body(2)
            order = self.order([str(n + 1) for n in range(len(types))])
            limit = d.among(["", f" LIMIT {d.between(0, 9)}", f" LIMIT {d.between(1, 5)} OFFSET {d.between(1, 5)}"])
            sql, ordered = f"{prefix}{body} ORDER BY {order}{limit}", True
        else:
            self.inexact = d.one_in(2)
            body, types = self.body(2)
            sql, ordered = f"{prefix}{body}", False
        return Query(sql, ordered, self.sqlite, d.tape)

    def order(self, terms):
        """Over all the terms, with the place of NULLs said or (not for SQLite) left to the dialect."""
        d = self.dice
        said = []
        for term in terms:
            nulls = d.among([" NULLS LAST", " NULLS FIRST"] + [""] * (not self.portable))
            if not nulls:
                self.duckdb_only()
            said.append(f"{term}{d.among(['', ' DESC', ' ASC'])}{nulls}")
        return ", ".join(said)

    def common_tables(self):
        d = self.dice
        said, recursive = [], False
        self.has_recursion = False
        for _ in range(d.among([0, 0, 0, 0, 1, 1, 2])):
            match d.below(8):
                case 6:
                    name, text, columns = self.recursive_table()
                    recursive = self.has_recursion = True
                case 7:
                    name = self.alias("v")
                    rows, columns = self.values()
                    text = f"{name}({', '.join(n for n, _ in columns)}) AS ({rows})"
                case _:
                    name = self.alias("c")
                    body, types = self.body(1)
                    text = f"{name} AS ({body})"
                    columns = [(f"c{n}", ty) for n, ty in enumerate(types)]
            said.append(text)
            self.ctes[name] = columns
        if not said:
            return ""
        return f"WITH {'RECURSIVE ' if recursive else ''}{', '.join(said)} "

    def recursive_table(self):
        d = self.dice
        name, limit = self.alias("r"), d.between(2, 9)
        match d.below(3 if self.portable else 4):
            case 0 | 1:
                all_ = d.among(["ALL ", ""])
                step = f"SELECT a + {d.between(1, 3)}, b * 2 FROM {name} WHERE a < {limit}"
                return name, f"{name}(a, b) AS (SELECT 1, 1 UNION {all_}{step})", [("a", "int"), ("b", "int")]
            case 2:
                table = d.among(sorted(self.tables))
                step = f"SELECT y.n % 5 + {name}.a, y.k FROM {name} JOIN {table} AS y ON y.k = {name}.b WHERE {name}.a < {limit}"
                text = f"{name}(a, b) AS (SELECT k, k FROM {table} WHERE k < 3 UNION {step} AND y.n > 0)"
                return name, text, [("a", "int"), ("b", "int")]
        self.duckdb_only()
        text = f"{name}(a, s) AS (SELECT 0, CAST('x' AS VARCHAR) UNION ALL SELECT a + 1, s || CAST(a AS VARCHAR) FROM {name} WHERE a < {limit})"
        return name, text, [("a", "int"), ("s", "text")]

    def some_types(self, scope):
        d = self.dice
        present = sorted({column.ty for column in scope}, key=TYPES.index) or ["int"]
        return [d.among(present) if not d.one_in(8) else "int" for _ in range(d.between(1, 4))]

    def body(self, depth, types=None):
        """A SELECT or a set operation; its columns are c0, c1, ..."""
        d = self.dice
        if depth <= 0 or d.below(7) < 6:
            return self.select(depth, types)
        self.inexact = False
        left, types = self.select(depth - 1, types)
        others = types
        if "int" in types and d.one_in(4) and not self.has_recursion:
            # Types that have to be made one; only the result is of the wider. DuckDB 1.5.5 forgets it over recursive tables.
            others = ["float" if ty == "int" else ty for ty in types]
        right, _ = self.select(depth - 1, others)
        types = others
        counting = [] if self.portable else ["EXCEPT ALL", "INTERSECT ALL"]
        which = d.among(["UNION ALL", "UNION", "EXCEPT", "INTERSECT", *counting])
        if which in counting:
            self.duckdb_only()
        text = f"{left} {which} {right}"
        if d.one_in(4):
            third, _ = self.select(0, types)
            names = ", ".join(f"c{n}" for n in range(len(types)))
            text = f"SELECT {names} FROM ({text}) AS {self.alias()} {d.among(['UNION ALL', 'EXCEPT', 'UNION'])} {third}"
        return text, types

    def select(self, depth, types=None, outer=()):
        d = self.dice
        source, scope = self.source(depth)
        inner = scope + list(outer)
        where = f" WHERE {self.predicate(inner, 2)}" if d.below(5) > 2 else ""
        types = types or self.some_types(scope)
        for ty in DUCKDB_ONLY.intersection(types):
            self.duckdb_only()
        shape = d.below(12)
        if shape == 4 and d.one_in(4):
            star = self.listed("", [self.expression(inner, ty, 1) for ty in types], source, where)
            return f"SELECT * FROM ({star}) AS {self.alias()}", types
        if shape < 5:
            return self.listed("", [self.expression(inner, ty, 2) for ty in types], source, where), types
        if shape == 5 and d.one_in(4) and not self.portable and scope and not any(c.bare for c in scope):
            self.inexact = False
            self.duckdb_only()
            # The first row of each, in an order of all columns.
            key = d.among(scope).sql
            order = self.order([key, *(column.sql for column in scope if column.sql != key)])
            items = [self.leaf(inner, ty) for ty in types]
            return f"SELECT * FROM ({self.listed(f'DISTINCT ON ({key}) ', items, source, where)} ORDER BY {order}) AS {self.alias()}", types
        if shape == 5:
            self.inexact = False
            return self.listed("DISTINCT ", [self.expression(inner, ty, 1) for ty in types], source, where), types
        if shape < 10:
            return self.grouped(types, scope, source, where), types
        return self.windowed(types, scope, source, where), types

    def listed(self, distinct, items, source, tail):
        named = ", ".join(f"{item} AS c{n}" for n, item in enumerate(items))
        return f"SELECT {distinct}{named} FROM {source}{tail}"

    def grouped(self, types, scope, source, where):
        d = self.dice
        # Without keys, all rows are one group.
        keys = [d.among(scope) for _ in range(d.among([1, 1, 2, 0]))]
        keys = list(dict.fromkeys(keys))
        for key in keys:
            if key.ty in DUCKDB_ONLY:
                self.duckdb_only()
        if keys and d.one_in(10):
            keys[0] = Column(self.expression([c for c in scope if not c.bare], keys[0].ty, 1), keys[0].ty)
            if not any(c.sql in keys[0].sql for c in scope):
                keys = keys[1:]
        terms = [key.sql for key in keys]
        clause = f" GROUP BY {', '.join(terms)}" if terms else ""
        nothing = set()
        if terms and d.one_in(5) and not self.portable:
            self.duckdb_only()
            listed = ", ".join(terms)
            sets = d.among([f"ROLLUP ({listed})", f"CUBE ({listed})", f"GROUPING SETS (({listed}), ())", f"GROUPING SETS (({terms[0]}), ({listed}))"])
            clause = f" GROUP BY {sets}"
            nothing = {f"grouping({term})" for term in terms}
        # Rows of several grouping sets have no keys that tell them apart.
        self.plain_groups = not nothing
        items = [self.group_item(ty, keys, scope) for ty in types]
        if nothing and types[0] == "int" and d.one_in(2):
            items[0] = sorted(nothing)[0]
        having = ""
        if d.one_in(3):
            limit = str(d.between(0, 4))
            if d.one_in(5) and self.subqueries > 0:
                limit = self.scalar_subquery(self.plain_keys(keys, scope), "int")
            test = "count(*)" if d.below(2) == 0 else self.aggregate("int", scope)
            having = f" HAVING {test} {d.among(['>', '<', '<>', '>=', '='])} {limit}"
        return self.listed("", items, source, f"{where}{clause}{having}")

    def group_item(self, ty, keys, scope):
        d = self.dice
        mine = [key.sql for key in keys if key.ty == ty]
        if mine and d.below(3) < 2:
            return d.among(mine)
        aggregate = lambda wanted=ty: self.aggregate(wanted, scope)
        match d.below(7):
            case 4 if ty in ("int", "float", "decimal"):
                return f"({aggregate()} {d.among(['+', '-'])} {aggregate()})"
            case 5:
                return f"CASE WHEN {aggregate('int')} > {d.between(0, 5)} THEN {aggregate()} ELSE {self.literal(ty)} END"
            case 3 if ty in ("int", "float") and keys and self.plain_groups:
                order = self.order([key.sql for key in keys])
                frame = d.among(["", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"])
                return f"{d.among(['sum', 'max', 'min'])}({aggregate('int')}) OVER (ORDER BY {order}{frame})"
            case 6 if ty in ("int", "float") and self.subqueries > 0:
                return f"({aggregate()} + {self.scalar_subquery(self.plain_keys(keys, scope), ty)})"
        return aggregate()

    def plain_keys(self, keys, scope):
        """Keys that a subquery can name: columns, where each group has one value of them."""
        return [key for key in keys if key in scope] if self.plain_groups else []

    def windowed(self, types, scope, source, where):
        d = self.dice
        named, window_clause = None, ""
        self.numbering, self.copies = None, True
        if scope and d.one_in(3):
            source, scope, where = self.without_copies(scope, source, where)
        which = d.below(8)
        if which == 6:
            named = self.alias("w")
            window = self.window(scope)
            self.numbering = re.sub(r" (ROWS|RANGE|GROUPS) .*", "", window)
            window_clause = f" WINDOW {named} AS ({window})"
        if which == 7:
            self.partitioned = self.alias("w")
            window_clause = f" WINDOW {self.partitioned} AS (PARTITION BY {self.counted(scope)})"
            for column in scope:
                if column.ty in DUCKDB_ONLY:
                    self.duckdb_only()
        items = [
            self.window_function(ty, scope, named) if d.below(3) < 2 else self.expression(scope, ty, 1) for ty in types
        ]
        self.partitioned = None
        if d.one_in(6) and not self.portable:
            self.duckdb_only()
            window_clause += f" QUALIFY {self.window_function('int', scope)} <= {d.between(1, 4)}"
        return self.listed("", items, source, f"{where}{window_clause}")

    def without_copies(self, scope, source, where):
        """The same rows, each once: whatever order of all columns counts them, there is only one."""
        self.copies = False
        if any(column.ty in DUCKDB_ONLY for column in scope):
            self.duckdb_only()
        alias = self.alias()
        rows = self.listed("DISTINCT ", [column.sql for column in scope], source, where)
        return f"({rows}) AS {alias}", [Column(f"{alias}.c{n}", column.ty) for n, column in enumerate(scope)], ""

    def scalar_subquery(self, scope, ty):
        """Of one row whatever the data: an aggregate, or the first of all that are ordered."""
        d = self.dice
        self.subqueries -= 1
        outer = [column for column in scope if not column.bare]
        if d.below(3) == 2 and outer:
            return self.dependent_scalar(outer, ty)
        source, inner = self.source(0)
        where = f" WHERE {self.correlation(inner, outer)}" if outer and d.one_in(2) else ""
        if not where and d.one_in(2):
            where = f" WHERE {self.predicate(inner, 1)}"
        columns = self.of_type(inner, ty)
        if d.below(4) < 3 or not columns:
            return f"(SELECT {self.aggregate(ty, inner)} FROM {source}{where})"
        item = d.among(columns).sql
        return f"(SELECT {item} FROM {source}{where} ORDER BY {item} {d.among(['', 'DESC '])}NULLS LAST LIMIT 1)"

    def correlation(self, inner, outer):
        d = self.dice
        shared = [(a, b) for a in inner for b in outer if a.ty == b.ty and a.ty not in DUCKDB_ONLY and not a.bare]
        if not shared:
            return self.predicate(inner, 0)
        a, b = d.among(shared)
        comparison = d.among(["=", "=", "=", "<", "<>", "IS NOT DISTINCT FROM"])
        extra = f" AND {self.predicate(inner, 0)}" if d.one_in(3) else ""
        return f"{a.sql} {comparison} {b.sql}{extra}"

    def subquery_predicate(self, scope):
        d = self.dice
        self.subqueries -= 1
        outer = [column for column in scope if not column.bare]
        if d.below(3) == 2 and outer:
            return self.dependent_predicate(scope, outer)
        source, inner = self.source(0)
        shape = d.below(5 if self.portable else 6)
        if shape < 2 or not outer:
            where = self.correlation(inner, outer) if outer and d.below(4) < 3 else self.predicate(inner, 1)
            return f"{d.among(['', 'NOT '])}EXISTS (SELECT 1 FROM {source} WHERE {where})"
        ty = self.comparable(scope)
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        left, item = self.leaf(scope, ty), self.leaf(inner, ty)
        where = ""
        if d.one_in(2):
            where = f" WHERE {self.correlation(inner, outer) if d.one_in(3) else self.predicate(inner, 1)}"
        subquery = f"(SELECT {item} FROM {source}{where})"
        if d.one_in(6):
            more, others = self.source(0)
            subquery = f"(SELECT {item} FROM {source}{where} UNION SELECT {self.leaf(others, ty)} FROM {more})"
        if shape < 5:
            return f"{left} {d.among(['', 'NOT '])}IN {subquery}"
        self.duckdb_only()
        return f"{left} {d.among(['=', '<', '>=', '<>', '>', '<='])} {d.among(['ANY', 'ALL'])} {subquery}"
