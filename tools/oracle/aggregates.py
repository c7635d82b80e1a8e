"""Random aggregates and window functions of a wanted type."""

from expressions import DUCKDB_ONLY

FRAMES = [
    "",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 3 FOLLOWING AND UNBOUNDED FOLLOWING",
]


class Aggregates:
    def aggregate(self, ty, scope):
        d = self.dice
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        filtered = f" FILTER (WHERE {self.predicate(scope, 0)})" if d.one_in(6) else ""
        part = lambda wanted=ty: self.expression(scope, wanted, 1)
        choose = lambda common, rare: d.among(common if self.portable else common + rare)()
        match ty:
            case "int":
                call = choose([
                    lambda: "count(*)",
                    lambda: f"count({part()})",
                    lambda: f"sum({part()})",
                    lambda: f"min({part()})",
                    lambda: f"max({part()})",
                    lambda: f"count(DISTINCT {self.counted(scope)})",
                    lambda: f"sum(DISTINCT {part()})",
                    lambda: f"count({self.counted(scope)})",
                    lambda: f"sum(CASE WHEN {self.predicate(scope, 0)} THEN 1 ELSE 0 END)",
                ], [
                    lambda: self.rare(f"{d.among(['bit_and', 'bit_or', 'bit_xor'])}({part()})"),
                ])  # fmt: skip
            case "float":
                call = choose([
                    lambda: f"sum({part()})",
                    lambda: f"avg({part('int')})",
                    lambda: f"avg({part()})",
                    lambda: f"min({part()})",
                    lambda: f"max({part()})",
                    lambda: f"avg(DISTINCT {part('int')})",
                ], [
                    lambda: self.rare(f"median({part()})"),
                    lambda: self.percentile(part),
                    lambda: self.statistic(part),
                ])  # fmt: skip
                if "WITHIN" in call:
                    filtered = ""
            case "text":
                call = choose([lambda: f"min({part()})", lambda: f"max({part()})"], [lambda: self.joined(scope)])
                if call.startswith("coalesce(array_to_string"):
                    filtered = ""
            case "bool":
                if self.portable or d.below(3) < 2:
                    return f"({self.aggregate('int', scope)} {d.among(['>', '=', '<='])} {d.between(0, 4)})"
                call = self.rare(f"{d.among(['bool_and', 'bool_or', 'min', 'max'])}({part()})")
            case "decimal":
                call = f"{d.among(['sum', 'min', 'max'])}({part()})"
                if call.startswith("sum"):
                    # A sum has all 38 digits: beside a decimal that has more of them after the point, DuckDB rounds that one.
                    return f"CAST({call}{filtered} AS DECIMAL(32,6))"
            case _:
                call = f"{d.among(['min', 'max'])}({part()})"
        return f"{call}{filtered}"

    def rare(self, call):
        """What SQLite does not have."""
        self.duckdb_only()
        return call

    def joined(self, scope):
        """In the text's own order, so that ties are equal; or in that of all columns. Of nothing but NULLs DuckDB makes NULL."""
        self.duckdb_only()
        if self.dice.one_in(3) and scope:
            order = self.order([column.sql for column in scope])
            return f"coalesce(array_to_string(array_agg({self.leaf(scope, 'text')} ORDER BY {order}), ','), '')"
        if self.dice.one_in(4):
            item = self.leaf(scope, "int")
            return f"coalesce(array_to_string(array_agg(DISTINCT {item} ORDER BY {item}), ','), '')"
        columns = self.of_type(scope, "text")
        if not columns:
            return f"max({self.literal('text')})"
        item = self.dice.among(columns).sql
        return f"string_agg({item}, ',' ORDER BY {item}{self.dice.among(['', ' DESC'])})"

    def statistic(self, part):
        """Its last digits depend on the order of the rows."""
        if not self.inexact or self.wild:
            return f"avg({part()})"
        self.duckdb_only()
        one = self.dice.among(["stddev", "var_pop", "stddev_pop", "var_samp"])
        if self.dice.one_in(3):
            return f"{self.dice.among(['covar_pop', 'covar_samp'])}({part()}, {part('float')})"
        return f"{one}({part()})"

    def percentile(self, part):
        """Between two values it has last digits of its own, unless the place between them is a multiple of a quarter."""
        one = self.dice.among([0.5, 0.25, 0.9])
        if not self.inexact and one == 0.9:
            one = 0.75
        value = part()
        # Between an infinity and a number DuckDB says infinity, we (and PostgreSQL) NaN.
        call = f"median({value})" if self.wild else f"percentile_cont({one}) WITHIN GROUP (ORDER BY {value})"
        return self.rare(call)

    def counted(self, scope):
        column = self.dice.among(scope) if scope else None
        if column is None:
            return "1"
        if column.ty in DUCKDB_ONLY:
            self.duckdb_only()
        return column.sql

    def window(self, scope, frame=True, total=True):
        """PARTITION BY some, ORDER BY all the columns (total) or one of them, and a frame.

        Equal rows are peers, but a window of all columns tells them apart where it counts rows; see `numbered`.
        """
        d = self.dice
        partition = [d.among(scope).sql for _ in range(d.among([1, 0, 2]))]
        for column in scope:
            if column.ty in DUCKDB_ONLY and (total or column.sql in partition):
                self.duckdb_only()
        said = [f"PARTITION BY {', '.join(dict.fromkeys(partition))}"] if partition else []
        if total:
            terms = [column.sql for column in scope]
            shift = d.below(len(terms))
            said.append(f"ORDER BY {self.order(terms[shift:] + terms[:shift])}")
        else:
            column = d.among(scope)
            if column.ty in DUCKDB_ONLY:
                self.duckdb_only()
            said.append(f"ORDER BY {self.order([column.sql])}")
        order, chosen = " ".join(said), ""
        if frame:
            # Rows are counted only where their order is total.
            chosen = d.among(FRAMES if total else [f for f in FRAMES if not f.startswith("ROWS")])
            if "GROUPS" in chosen and total and len(scope) > 6:
                chosen = ""
        if total and (not frame or chosen.startswith("ROWS")):
            order = self.numbered(order)
        return f"{order} {chosen}".rstrip()

    def numbered(self, order):
        """The order in which this SELECT counts rows: the first that was asked for.

        Which of two copies of a row comes first is left to the engine. By one order that is not seen, but of two the one
        may begin with this copy and the other with that: what stands beside what is then left to the engine, too.
        """
        self.numbering = self.numbering or order
        return self.numbering if self.copies else order

    def window_function(self, ty, scope, named=None):
        d = self.dice
        part = lambda wanted=ty: self.expression(scope, wanted, 1)
        over = lambda **how: f"OVER {named}" if named else f"OVER ({self.window(scope, **how)})"
        if self.partitioned and d.one_in(2):
            # A named window that says who belongs together; the order is added here.
            order = f"{self.partitioned} ORDER BY {self.order([column.sql for column in scope])}"
            counts = lambda frame=True, total=True: total and not frame
            over = lambda **how: f"OVER ({self.numbered(order) if counts(**how) else order})"
        if ty in DUCKDB_ONLY:
            self.duckdb_only()
        if ty == "int":
            match d.below(9):
                case 0:
                    return f"row_number() {over(frame=False)}"
                case 1:
                    return f"rank() {over(frame=False, total=False)}"
                case 2:
                    return f"dense_rank() {over(frame=False, total=False)}"
                case 3:
                    return f"count(*) {over(total=d.one_in(2))}"
                case 4:
                    return f"sum({part()}) {over(total=d.one_in(2))}"
                case 5:
                    return f"ntile({d.between(1, 4)}) {over(frame=False)}"
                case 6:
                    filtered = f" FILTER (WHERE {self.predicate(scope, 0)})"
                    return f"count({part()}){filtered} {over(total=d.one_in(2))}"
                case 7:
                    return self.value_function("int", part, over)
                case 8 if not self.portable and d.one_in(2):
                    self.duckdb_only()
                    return f"count(*) OVER ({self.distance(scope)})"
            return f"{d.among(['min', 'max'])}({part()}) {over(total=d.one_in(2))}"
        if ty == "float" and not self.wild:
            match d.below(6):
                case 0:
                    return f"avg({part()}) {over(total=d.one_in(2))}"
                case 1:
                    return f"sum({part()}) {over(total=d.one_in(2))}"
                case 2:
                    return f"{d.among(['percent_rank', 'cume_dist'])}() {over(frame=False, total=False)}"
                case 3 if not self.portable:
                    # A range of a number, on the single column that orders.
                    self.duckdb_only()
                    return f"sum({part()}) OVER ({self.distance(scope)})"
        if ty in ("bool", "decimal") or d.below(2) == 0:
            return self.value_function(ty, part, over)
        return f"{d.among(['min', 'max'])}({part()}) {over(total=d.one_in(2))}"

    def distance(self, scope):
        """A frame of all rows within a distance, on the single column that orders."""
        d = self.dice
        # At the ends of a type DuckDB overflows, and we do not.
        ty = d.among(["int", "float", "decimal", "date", "timestamp"])
        key, unit = self.leaf(scope, ty), {"date": " DAY", "timestamp": " DAY"}.get(ty, "")
        far = lambda n: f"INTERVAL '{n * 10}'{unit}" if unit else str(n)
        bounds = d.among([
            f"{far(3)} PRECEDING AND CURRENT ROW",
            f"{far(1)} PRECEDING AND {far(2)} FOLLOWING",
            f"CURRENT ROW AND {far(5)} FOLLOWING",
            f"{far(4)} PRECEDING AND {far(1)} PRECEDING",
            f"{far(1)} FOLLOWING AND UNBOUNDED FOLLOWING",
            f"UNBOUNDED PRECEDING AND {far(2)} FOLLOWING",
        ])  # fmt: skip
        partition = f"PARTITION BY {d.among(scope).sql} " if d.one_in(2) else ""
        nulls = d.among(["", " NULLS FIRST", " NULLS LAST"])
        return f"{partition}ORDER BY {key} {d.among(['', 'DESC'])}{nulls} RANGE BETWEEN {bounds}"

    def value_function(self, ty, part, over):
        d = self.dice
        match d.below(5):
            case 0:
                return f"lag({part()}) {over(frame=False)}"
            case 1:
                return f"lead({part()}, {d.between(1, 3)}, {self.literal(ty)}) {over(frame=False)}"
            case 2:
                return f"first_value({part()}) {over()}"
            case 3:
                return f"last_value({part()}) {over()}"
        return f"nth_value({part()}, {d.between(1, 3)}) {over()}"
