"""Random subqueries that depend on the rows around them: through any clause of SELECT, and through several levels.

`outer` is what a subquery may name of the rows around it, itself or in subqueries of its own."""

from expressions import DUCKDB_ONLY, Column


class Dependent:
    """To be mixed into the grammar."""

    def dependent_scalar(self, outer, ty):
        """Of one row whatever the data."""
        d = self.dice
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        shape = d.below(8)
        if shape == 0:
            source, inner = self.source(0)
            return f"(SELECT {self.aggregate(ty, inner)} FROM {source} WHERE {self.predicate(inner + outer, 2)})"
        if shape == 1:
            return self.first_of(outer, ty)
        if shape == 2:
            return self.without_from(outer, ty)
        if shape == 3 and not self.portable:
            return self.of_values(outer, ty)
        if shape == 4:
            return self.over_condition(outer, ty)
        if shape == 5:
            return self.limited_group(outer, ty)
        body, column = self.inside(outer, ty)
        return f"(SELECT {self.aggregate(ty, [column])} FROM {body})"

    def inside(self, outer, ty):
        """A query in FROM that depends on rows further out, and its column."""
        d = self.dice
        body, _ = self.query_inside([ty], outer)
        if d.one_in(3):
            other, _ = self.query_inside([ty], outer if d.one_in(2) else ())
            body = f"{body} {d.among(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'])} {other}"
        alias = self.alias()
        return f"({body}) AS {alias}", Column(f"{alias}.c0", ty)

    def query_inside(self, types, outer):
        """A SELECT; the one that it stands in goes on as before."""
        keep = self.numbering, self.copies, self.partitioned, self.plain_groups, self.inexact
        self.inexact, self.partitioned = False, None
        made = self.select(0, types, outer)
        self.numbering, self.copies, self.partitioned, self.plain_groups, self.inexact = keep
        return made

    def first_of(self, outer, ty):
        d = self.dice
        source, inner = self.source(0)
        item = self.leaf(inner, ty)
        limit = d.among(["LIMIT 1", "LIMIT 1 OFFSET 1", "LIMIT 1 OFFSET 2"])
        where = self.predicate(inner + outer, 1)
        return f"(SELECT {item} FROM {source} WHERE {where} ORDER BY {item} {d.among(['', 'DESC '])}NULLS LAST {limit})"

    def without_from(self, outer, ty):
        d = self.dice
        where = f" WHERE {self.predicate(outer, 1)}" if d.one_in(2) else ""
        return f"(SELECT {self.expression(outer, ty, 1)}{where})"

    def of_values(self, outer, ty):
        self.duckdb_only()
        alias = self.alias()
        rows = [f"({self.leaf(outer, ty)})" for _ in range(self.dice.between(1, 3))]
        return f"(SELECT {self.aggregate(ty, [Column(f'{alias}.a', ty)])} FROM (VALUES {', '.join(rows)}) AS {alias}(a))"

    def over_condition(self, outer, ty):
        """The outer row in the condition of a join."""
        d = self.dice
        left, scope = self.one_source(0)
        right, more = self.one_source(0)
        kind = d.among(["JOIN", "LEFT JOIN", "RIGHT JOIN"])
        said = self.equalities(scope, more)
        keep, self.subqueries = self.subqueries, 0
        said.append(self.predicate(scope + more + outer, 1))
        self.subqueries = keep
        joined = f"{left} {kind} {right} ON {' AND '.join(said)}"
        return f"(SELECT {self.aggregate(ty, scope + more)} FROM {joined})"

    def limited_group(self, outer, ty):
        """HAVING that names the outer row: one group, or none."""
        source, inner = self.source(0)
        having = f"{self.aggregate('int', inner)} {self.dice.among(['>', '<=', '<>'])} {self.leaf(outer, 'int')}"
        if self.dice.one_in(2):
            return f"(SELECT {self.aggregate(ty, inner)} FROM {source} WHERE {self.predicate(inner + outer, 1)} HAVING {having})"
        return f"(SELECT {self.aggregate(ty, inner)} FROM {source} HAVING {having})"

    def dependent_predicate(self, scope, outer):
        d = self.dice
        ty = self.comparable(outer)
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        shape = d.below(4 if self.portable else 5)
        if shape < 2:
            body, _ = self.query_inside([ty], outer)
            if d.one_in(4):
                body = f"{body} LIMIT {d.between(1, 2)}{d.among(['', ' OFFSET 1', ' OFFSET 2'])}"
            return f"{d.among(['', 'NOT '])}EXISTS ({body})"
        body, _ = self.query_inside([ty], outer)
        left = self.leaf(scope, ty)
        if shape < 4:
            return f"{left} {d.among(['', 'NOT '])}IN ({body})"
        self.duckdb_only()
        return f"{left} {d.among(['=', '<', '>=', '<>', '>', '<='])} {d.among(['ANY', 'ALL'])} ({body})"

    def lateral(self, left, scope):
        """What stands right of LATERAL, and the columns of both."""
        d = self.dice
        self.duckdb_only()
        outer = [column for column in scope if not column.bare]
        body, types = self.query_inside(None, outer)
        alias = self.alias()
        more = [Column(f"{alias}.c{n}", ty) for n, ty in enumerate(types)]
        if d.below(3) > 0:
            return f"{left} CROSS JOIN LATERAL ({body}) AS {alias}", scope + more
        return f"{left} LEFT JOIN LATERAL ({body}) AS {alias} ON true", scope + more
