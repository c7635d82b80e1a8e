"""Random FROM clauses: tables, CTEs, derived tables, VALUES and every kind of join."""

from expressions import DUCKDB_ONLY, Column


class Sources:
    def source(self, depth):
        d = self.dice
        if depth <= 0 or d.below(5) < 2:
            return self.one_source(depth)
        if d.below(6) == 5:
            return self.merging_join()
        left, scope = self.one_source(depth - 1)
        joins = d.among([1, 1, 1, 2])
        for _ in range(joins):
            right, more = self.one_source(depth - 1)
            kind = d.among(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ","])
            if kind == ",":
                # A comma binds less than a join: it comes last.
                return f"{left}, {right}", scope + more
            if kind == "CROSS JOIN" and d.one_in(3) and not self.portable:
                # A derived table that names columns of the one before it.
                left, scope = self.lateral(left, scope)
                continue
            if kind == "CROSS JOIN":
                left, scope = f"{left} CROSS JOIN {right}", scope + more
                continue
            left, scope = f"{left} {kind} {right} ON {self.join_condition(scope, more, kind)}", scope + more
        return left, scope

    def join_condition(self, left, right, kind):
        d = self.dice
        # DuckDB has no subqueries in the condition of an outer join.
        keep = self.subqueries
        self.subqueries = keep if kind == "JOIN" else 0
        said = self.equalities(left, right)
        if not said or d.one_in(4):
            said.append(self.predicate(left + right, 1))
        if kind != "JOIN":
            self.subqueries = keep
        return " AND ".join(said)

    def equalities(self, left, right):
        d = self.dice
        shared = [(a, b) for a in left for b in right if a.ty == b.ty]
        if not shared or d.one_in(12):
            return []
        pairs = [d.among(shared) for _ in range(d.among([1, 1, 2]))]
        said = []
        for a, b in dict.fromkeys(pairs):
            if a.ty in DUCKDB_ONLY:
                self.duckdb_only()
            how = d.among(["=", "=", "=", "=", "=", "=", "IS NOT DISTINCT FROM", "<", "<>"])
            said.append(f"{a.sql} {how} {b.sql}")
        return said

    def merging_join(self):
        """USING and NATURAL: columns of the same name become one."""
        d = self.dice
        names = sorted(self.tables)
        one, other = d.among(names), d.among(names)
        left, right = dict(self.tables[one]), dict(self.tables[other])
        a, b = self.alias(), self.alias()
        kind = d.among(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        shared = [name for name in left if name in right]
        if d.one_in(3):
            keys, text = shared, f"{one} AS {a} NATURAL {kind} {other} AS {b}"
        else:
            keys = ["k"] if d.one_in(2) or len(shared) < 2 else ["k", d.among([n for n in shared if n != "k"])]
            text = f"{one} AS {a} {kind} {other} AS {b} USING ({', '.join(keys)})"
        if any(left[key] in DUCKDB_ONLY for key in keys):
            self.duckdb_only()
        scope = [Column(key, left[key], bare=True) for key in keys]
        for alias, columns in ((a, left), (b, right)):
            scope += [Column(f"{alias}.{name}", ty) for name, ty in columns.items() if name not in keys]
        return text, scope

    def one_source(self, depth):
        d = self.dice
        alias = self.alias()
        named = lambda columns: [Column(f"{alias}.{name}", ty) for name, ty in columns]
        which = d.below(10)
        if self.ctes and which >= 3:
            name = d.among(sorted(self.ctes))
            return f"{name} AS {alias}", named(self.ctes[name])
        if which == 9 and not self.portable:
            rows, columns = self.values()
            self.duckdb_only()
            return f"({rows}) AS {alias}({', '.join(name for name, _ in columns)})", named(columns)
        if which >= 7 and depth > 0:
            keep, self.inexact = self.inexact, False
            body, types = self.body(depth - 1)
            self.inexact = keep
            if d.one_in(4):
                order = self.order([str(n + 1) for n in range(len(types))])
                body = f"{body} ORDER BY {order} LIMIT {d.between(0, 12)}"
            return f"({body}) AS {alias}", named([(f"c{n}", ty) for n, ty in enumerate(types)])
        if which == 6 and d.one_in(4) and not self.portable:
            self.duckdb_only()
            step = d.among(["", ", 2", ", 3"])
            return f"generate_series({d.between(0, 2)}, {d.between(3, 9)}{step}) AS {alias}(g)", named([("g", "int")])
        if which == 4 and d.one_in(4) and not self.portable:
            self.duckdb_only()
            items = ", ".join(d.among([self.literal("int"), "NULL"]) for _ in range(d.between(1, 4)))
            return f"unnest([{items}, 3]) AS {alias}(a)", named([("a", "int")])
        if which == 5 and depth > 0 and d.one_in(4):
            inner = self.alias("c")
            body, types = self.body(0)
            return f"(WITH {inner} AS ({body}) SELECT * FROM {inner}) AS {alias}", named([(f"c{n}", ty) for n, ty in enumerate(types)])
        name = d.among(sorted(self.tables))
        return f"{name} AS {alias}", named(self.tables[name])

    def values(self):
        d = self.dice
        columns = [("a", "int"), ("s", d.among(["text", "int", "bool"]))][: d.between(1, 2)]
        rows = []
        for _ in range(d.between(1, 4)):
            cells = [self.literal(ty) if not d.one_in(6) else f"CAST(NULL AS {self.sql_type(ty)})" for _, ty in columns]
            rows.append(f"({', '.join(cells)})")
        return f"VALUES {', '.join(rows)}", columns
