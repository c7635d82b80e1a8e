//! Queries that look alike and are not the same: a template with a hole, and what may stand in it.
//!
//! Two fillings of a hole nearly always give different answers (on the tables of [`crate::random_sql`], if they are
//! not too small), though their plans differ in one small thing. Whoever takes one stage for the other answers wrong.

/// A template, and what its `{}` is filled with.
pub struct Kind(pub &'static str, pub &'static [&'static str]);

impl Kind {
    /// One query for each filling.
    pub fn queries(&self) -> Vec<String> {
        self.1.iter().map(|filling| self.0.replace("{}", filling)).collect()
    }
}

/// A query as a numbered part of a union.
pub fn part(number: usize, query: &str) -> String {
    format!("SELECT {number} AS part, x{number}.* FROM ({query}) AS x{number}")
}

pub const KINDS: &[Kind] = &[
    // Expressions: parentheses, operators, operands, types of literals.
    Kind(
        "SELECT sum({}) AS v FROM t",
        &["n - (k - n)", "n - k - n", "n - (k - n - 1)", "k - n - n"],
    ),
    Kind("SELECT sum({}) AS v FROM t", &["n % 7 % 4", "n % (7 % 4)"]),
    Kind("SELECT sum({}) AS v FROM t WHERE n <> 0", &["100 / n / 2", "100 / (n / 2 + 1000)"]),
    Kind(
        "SELECT count(*) AS v FROM t WHERE {}",
        &[
            "(b AND n > 0) IS NULL",
            "b AND (n > 0) IS NULL",
            "(b OR n > 0) IS NULL",
            "b IS NULL AND n > 0",
            "NOT (b AND n > 0)",
            "NOT b AND n > 0",
        ],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE {}",
        &["n < 5", "n <= 5", "n > 5", "n >= 5", "n = 5", "n <> 5", "k < 5"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE {}",
        &["k > 3 OR b AND n > 0", "(k > 3 OR b) AND n > 0"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE {}",
        &[
            "s LIKE 'a%'",
            "s LIKE '%a%'",
            "s NOT LIKE 'a%'",
            "s ILIKE 'LI%'",
            "s LIKE '_'",
            "s LIKE 'LI%'",
        ],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE {}",
        &["k IN (1, 2)", "k IN (1, 2, 3)", "k NOT IN (1, 2)", "n IN (1, 2)"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE k {}",
        &[
            "BETWEEN 2 AND 5",
            "NOT BETWEEN 2 AND 5",
            "BETWEEN 2 AND 6",
            "IS NULL",
            "IS NOT NULL",
            "IS DISTINCT FROM 3",
            "IS NOT DISTINCT FROM 3",
        ],
    ),
    Kind(
        "SELECT k, {} AS v FROM t",
        &["1", "'1'", "1.0", "CAST(1 AS DECIMAL(4, 2))", "true", "NULL", "DATE '2020-01-01'"],
    ),
    Kind(
        "SELECT sum({}) AS v FROM t",
        &[
            "CASE WHEN n > 0 THEN k ELSE 0 END",
            "CASE WHEN n > 0 THEN k END + 1",
            "CASE WHEN k > 0 THEN n ELSE 0 END",
            "CASE WHEN n > 0 THEN 0 ELSE k END",
            "CASE k WHEN 1 THEN 5 WHEN 2 THEN 6 ELSE 7 END",
            "CASE k WHEN 1 THEN 6 WHEN 2 THEN 5 ELSE 7 END",
        ],
    ),
    Kind(
        "SELECT sum({}) AS v FROM t",
        &["coalesce(k, n)", "coalesce(n, k)", "nullif(n, k)", "nullif(k, n)"],
    ),
    Kind(
        "SELECT min({}) AS v, max({}) AS w FROM t",
        &[
            "substr(s, 1, 2)",
            "substr(s, 2, 1)",
            "substr(s, 1)",
            "upper(s)",
            "s || 'x'",
            "'x' || s",
            "concat(s, s)",
            "replace(s, 'a', 'b')",
            "replace(s, 'b', 'a')",
            "lpad(s, 5, '-')",
            "rpad(s, 5, '-')",
        ],
    ),
    Kind(
        "SELECT max({}) AS v FROM t",
        &[
            "CAST(f AS BIGINT)",
            "CAST(f AS DOUBLE) / 2",
            "CAST(f AS DECIMAL(12, 1))",
            "CAST(f AS DECIMAL(12, 2)) / 3",
            "round(f)",
            "floor(f)",
            "ceil(f)",
            "round(f, 1)",
            "-f",
        ],
    ),
    Kind(
        "SELECT max({}) AS v FROM t",
        &[
            "d + INTERVAL '1 day'",
            "d + INTERVAL '1 month'",
            "d - INTERVAL '1 day'",
            "d + INTERVAL '2 day'",
            "date_trunc('month', d)",
            "date_trunc('year', d)",
        ],
    ),
    Kind(
        "SELECT sum({}) AS v FROM t",
        &[
            "extract(month FROM d)",
            "extract(day FROM d)",
            "extract(year FROM d)",
            "extract(dow FROM d)",
        ],
    ),
    // Aggregates.
    Kind(
        "SELECT k, {} AS v FROM t GROUP BY k",
        &[
            "sum(n)",
            "min(n)",
            "max(n)",
            "count(n)",
            "count(*)",
            "avg(n)",
            "count(DISTINCT n)",
            "sum(DISTINCT n)",
            "sum(m)",
            "max(m)",
            "stddev(n)",
            "var_pop(n)",
            "var_samp(n)",
            "median(n)",
            "bool_and(b)",
            "bool_or(b)",
            "count(b)",
        ],
    ),
    Kind(
        "SELECT k, {} AS v FROM t GROUP BY k",
        &[
            "sum(n) FILTER (WHERE b)",
            "sum(n) FILTER (WHERE NOT b)",
            "sum(n) FILTER (WHERE n > 0)",
            "sum(n)",
            "sum(n) FILTER (WHERE b IS NULL)",
        ],
    ),
    Kind(
        "SELECT {} AS v FROM t",
        &[
            "array_agg(n ORDER BY n, k)",
            "array_agg(n ORDER BY n DESC, k)",
            "array_agg(k ORDER BY n, k)",
            "array_agg(DISTINCT k ORDER BY k)",
            "array_agg(n ORDER BY n NULLS FIRST, k)",
        ],
    ),
    Kind(
        "SELECT {} AS v FROM t WHERE n IS NOT NULL AND k IS NOT NULL",
        &[
            "first_value(n ORDER BY n, k)",
            "first_value(n ORDER BY n DESC, k)",
            "last_value(k ORDER BY k, n)",
            "first_value(k ORDER BY k, n)",
            "last_value(n ORDER BY k, n)",
        ],
    ),
    Kind(
        "SELECT {} AS v FROM t",
        &[
            "string_agg(s, ',' ORDER BY s)",
            "string_agg(s, ';' ORDER BY s)",
            "string_agg(s, ',' ORDER BY s DESC)",
        ],
    ),
    Kind(
        "SELECT {} AS v FROM t",
        &[
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY f)",
            "percentile_cont(0.25) WITHIN GROUP (ORDER BY f)",
            "percentile_cont(0.25) WITHIN GROUP (ORDER BY f DESC)",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY n)",
        ],
    ),
    Kind(
        "SELECT {} AS v FROM t",
        &[
            "corr(n, k)",
            "covar_pop(n, k)",
            "covar_samp(n, k)",
            "regr_slope(n, k)",
            "regr_slope(k, n)",
        ],
    ),
    Kind(
        "SELECT {} AS a, count(*) AS v FROM t GROUP BY 1",
        &["k", "n", "k + 1", "n % 5", "k % 5", "s", "b", "d"],
    ),
    Kind(
        "SELECT k, b, sum(n) AS v FROM t GROUP BY {}",
        &[
            "k, b",
            "ROLLUP (k, b)",
            "CUBE (k, b)",
            "GROUPING SETS ((k), (b))",
            "GROUPING SETS ((k), (b), ())",
            "GROUPING SETS ((k, b), (b))",
        ],
    ),
    Kind(
        "SELECT k FROM t GROUP BY k HAVING {}",
        &[
            "sum(n) > 0",
            "sum(n) < 0",
            "count(*) > 10",
            "count(*) > 20",
            "count(*) < 10",
            "min(n) < -45",
            "max(n) > 45",
            "avg(n) > 1",
        ],
    ),
    Kind(
        "SELECT k, v FROM (SELECT k, count(*) AS v FROM t GROUP BY k) AS g WHERE {}",
        &["v > 12", "v > 16", "k > 6", "v < 12"],
    ),
    // The arguments of aggregates are told by name: here the names are the same.
    Kind(
        "SELECT sum({}) AS v FROM (SELECT k AS v, n AS w FROM t) AS x JOIN (SELECT n AS v, k AS w FROM u) AS y ON x.v = y.w",
        &["x.v", "y.v", "x.w", "x.v - y.v", "y.v - x.v"],
    ),
    Kind("SELECT sum(v) AS v FROM (SELECT {} AS v FROM t) AS x", &["k", "n", "k + n", "n + n"]),
    // Order, limits, top-k.
    Kind(
        "SELECT DISTINCT k FROM t WHERE k IS NOT NULL ORDER BY k {}",
        &["LIMIT 1", "DESC LIMIT 1", "LIMIT 2", "LIMIT 1 OFFSET 1", "DESC LIMIT 2"],
    ),
    Kind(
        "SELECT k, n, s FROM t ORDER BY {} LIMIT 3",
        &[
            "k, n, s",
            "k DESC, n, s",
            "k, n DESC, s",
            "n, k, s",
            "k NULLS FIRST, n, s",
            "k, n NULLS FIRST, s DESC",
            "s, k, n",
            "s DESC, k, n",
        ],
    ),
    Kind(
        "SELECT k, max(n) AS v FROM t GROUP BY k ORDER BY {} LIMIT 2",
        &[
            "max(n), k",
            "max(n) DESC, k",
            "max(n) DESC NULLS LAST, k",
            "k",
            "k DESC",
            "max(n) NULLS FIRST, k",
        ],
    ),
    Kind(
        "SELECT k, min(n) AS v FROM t GROUP BY k ORDER BY min(n) {}, k LIMIT 3",
        &["ASC", "DESC", "NULLS FIRST", "DESC NULLS LAST"],
    ),
    Kind(
        "SELECT count(*) AS v FROM (SELECT k FROM t ORDER BY k, n, s {}) AS x",
        &["LIMIT 3", "LIMIT 4", "LIMIT 2 OFFSET 1", "LIMIT 6 OFFSET 1"],
    ),
    Kind(
        "SELECT sum(v) AS v FROM (SELECT n AS v FROM t ORDER BY {} LIMIT 5) AS x",
        &["n", "n DESC", "n NULLS FIRST", "k, n, s", "k DESC, n, s"],
    ),
    Kind(
        "SELECT DISTINCT {} FROM t",
        &["k AS a", "n AS a", "k + 1 AS a", "k % 3 AS a", "s AS a", "k AS a, b", "b AS a, k"],
    ),
    Kind(
        "SELECT DISTINCT ON (k) k, n, s FROM t ORDER BY k, {}",
        &["n, s", "n DESC, s", "s, n", "s DESC, n", "n NULLS FIRST, s"],
    ),
    // Joins: kinds, keys, filters, sides.
    Kind(
        "SELECT count(*) AS v, count(x.n) AS w, count(y.n) AS z FROM t AS x {} JOIN u AS y ON x.n = y.n",
        &["INNER", "LEFT", "RIGHT", "FULL"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t AS x JOIN u AS y ON {}",
        &[
            "x.k = y.k",
            "x.k = y.n",
            "x.n = y.k",
            "x.n = y.n",
            "x.k = y.k AND x.n = y.n",
            "x.k = y.k AND x.n < y.n",
            "x.k = y.k AND x.n > y.n",
            "x.k = y.k + 1",
            "x.k + 1 = y.k",
            "x.k IS NOT DISTINCT FROM y.k",
        ],
    ),
    Kind(
        "SELECT count(*) AS v FROM t AS x JOIN u AS y ON x.k = y.k AND {}",
        &[
            "x.n < y.n",
            "y.n < x.n",
            "x.n <= y.n",
            "x.n < x.k * 5",
            "y.n < y.k * 5",
            "x.n < y.k",
            "x.k < y.n",
        ],
    ),
    Kind(
        "SELECT count(*) AS v FROM t AS x LEFT JOIN u AS y ON x.k = y.k AND {}",
        &["x.n > 0", "y.n > 0", "x.n > y.n", "y.n > x.n"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t AS a, u AS b, t AS c WHERE a.k = b.k AND b.k = c.k AND {}",
        &["a.n < c.n - 10", "b.n < c.n - 10", "a.n < b.n - 10"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t AS x, u AS y WHERE {}",
        &["x.n < y.n", "x.n > y.n", "x.n < y.k", "x.k < y.n", "x.n + y.n = 0", "x.n - y.n = 0"],
    ),
    // Subqueries that depend on their row, by other comparisons than equality.
    Kind(
        "SELECT sum(coalesce(({}), -1)) AS v FROM t",
        &[
            "SELECT count(*) FROM u WHERE u.n < t.n",
            "SELECT count(*) FROM u WHERE u.n <= t.n",
            "SELECT count(*) FROM u WHERE u.n < t.k",
            "SELECT count(u.k) FROM u WHERE u.n < t.n",
            "SELECT count(*) FROM u WHERE u.n < t.n AND u.k <> t.k",
            "SELECT count(*) FROM u WHERE u.n IS DISTINCT FROM t.n",
            "SELECT max(u.n) FROM u WHERE u.n < t.n",
            "SELECT max(u.n) FROM u WHERE u.n < t.n HAVING count(*) > t.k",
            "SELECT u.n FROM u WHERE u.n < t.n ORDER BY u.n LIMIT 1",
            "SELECT u.n FROM u WHERE u.n < t.n ORDER BY u.n DESC LIMIT 1",
            "SELECT u.n FROM u WHERE u.n < t.n ORDER BY u.n LIMIT 1 OFFSET 1",
            "SELECT count(*) FROM (SELECT DISTINCT u.k FROM u WHERE u.n < t.n) AS x",
            "SELECT count(*) FROM (SELECT u.k FROM u WHERE u.n < t.n UNION SELECT t.k) AS x",
            "SELECT count(*) FROM (SELECT u.k FROM u WHERE u.n < t.n EXCEPT SELECT t.k) AS x",
            "SELECT count(*) FROM u WHERE EXISTS (SELECT 1 FROM t AS y WHERE y.n < t.n AND y.k = u.k)",
            "SELECT count(*) FROM u WHERE EXISTS (SELECT 1 FROM t AS y WHERE y.n < u.n AND y.k = t.k)",
        ],
    ),
    Kind(
        "SELECT sum(CASE WHEN {} THEN 1 ELSE 100 END) AS v FROM t",
        &[
            "EXISTS (SELECT 1 FROM u WHERE u.n < t.n AND u.k = t.k)",
            "EXISTS (SELECT 1 FROM u WHERE u.n > t.n AND u.k = t.k)",
            "NOT EXISTS (SELECT 1 FROM u WHERE u.n < t.n AND u.k = t.k)",
            "n IN (SELECT u.n FROM u WHERE u.k = t.k)",
            "n IN (SELECT u.n FROM u WHERE u.k <> t.k)",
            "n NOT IN (SELECT u.n FROM u WHERE u.k = t.k)",
            "n > ALL (SELECT u.n FROM u WHERE u.k = t.k)",
            "n > ANY (SELECT u.n FROM u WHERE u.k = t.k)",
        ],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE {}",
        &[
            "k IN (SELECT k FROM u WHERE n > 40)",
            "k NOT IN (SELECT k FROM u WHERE n > 40 AND k IS NOT NULL)",
            "k IN (SELECT n FROM u)",
            "n IN (SELECT n FROM u)",
            "n IN (SELECT k FROM u)",
            "EXISTS (SELECT 1 FROM u WHERE u.n = t.n)",
            "NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.n)",
            "EXISTS (SELECT 1 FROM u WHERE u.n < t.n AND u.k = t.k AND u.s <> t.s)",
            "EXISTS (SELECT 1 FROM u WHERE u.n > t.n AND u.k = t.k AND u.s = t.s)",
        ],
    ),
    Kind(
        "SELECT count(*) AS v FROM t WHERE n > (SELECT {} FROM u)",
        &["avg(n)", "min(n)", "max(n)", "avg(k)", "avg(n) + 10", "min(k)"],
    ),
    Kind(
        "SELECT sum(x.n) AS v FROM {} AS x",
        &[
            "t",
            "u",
            "(SELECT n FROM t WHERE n > 0)",
            "(SELECT n FROM t WHERE n < 0)",
            "(SELECT k AS n FROM t)",
        ],
    ),
    // Constants and generators.
    Kind(
        "SELECT count(DISTINCT x) AS v, sum(x) AS w FROM (VALUES {}) AS t(x)",
        &["(1), (2)", "(1), (1)", "(2), (1), (3)", "(1), (3)", "(2), (2)", "(NULL), (1)"],
    ),
    Kind(
        "SELECT count(*) AS v, sum(value) AS w FROM generate_series({})",
        &["1, 5", "1, 5, 2", "1, 6", "2, 5", "5, 1, -1", "1, 5, 3"],
    ),
    Kind(
        "SELECT count(*) AS v, sum(value) AS w FROM {}",
        &["range(1, 5)", "range(1, 6, 2)", "generate_series(1, 5)", "range(0, 5)"],
    ),
    Kind(
        "SELECT count(*) AS v FROM t JOIN (VALUES {}) AS w(x) ON t.k = w.x",
        &["(1), (2)", "(1), (1)", "(3), (4), (5)", "(1)"],
    ),
    Kind(
        "SELECT count(*) AS v, max(x) AS w FROM (SELECT unnest({}) AS x) AS y",
        &["[1, 2]", "[1, 1, 3]", "[2, 3]", "[NULL, 1]"],
    ),
    Kind("SELECT k, unnest({}) AS v FROM t WHERE k = 3", &["[n, k]", "[k, n]", "[n, n]", "[n, 1]"]),
    // Set operations.
    Kind("SELECT k FROM t {} SELECT n FROM u", &["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]),
    Kind(
        "SELECT k FROM t EXCEPT SELECT n FROM {}",
        &["u WHERE n < 3", "u WHERE n > 3", "t WHERE n > 8", "t WHERE n < 8"],
    ),
    // Windows: function, argument, partition, order, frame.
    Kind(
        "SELECT k, n, s, {} OVER (PARTITION BY k ORDER BY n, s, f, m, d) AS v FROM t",
        &[
            "row_number()",
            "rank()",
            "dense_rank()",
            "percent_rank()",
            "cume_dist()",
            "ntile(2)",
            "ntile(3)",
            "lag(n)",
            "lead(n)",
            "lag(n, 2)",
            "lag(n, 1, 0)",
            "lag(n, 1, 7)",
            "lag(k)",
            "first_value(n)",
            "last_value(n)",
            "nth_value(n, 2)",
            "sum(n)",
            "sum(k)",
            "avg(n)",
            "count(n)",
            "min(n)",
            "max(n)",
            "min(f)",
            "max(f)",
            "sum(n) FILTER (WHERE b)",
            "sum(n) FILTER (WHERE NOT b)",
            "first_value(f) IGNORE NULLS",
            "first_value(f) RESPECT NULLS",
            "last_value(f) IGNORE NULLS",
        ],
    ),
    Kind(
        "SELECT k, n, s, row_number() OVER ({}) AS v FROM t",
        &[
            "PARTITION BY k ORDER BY n, s, f, m, d",
            "PARTITION BY k ORDER BY n DESC, s, f, m, d",
            "PARTITION BY s ORDER BY k, n, f, m, d",
            "ORDER BY k, n, s, f, m, d",
            "PARTITION BY k, b ORDER BY n, s, f, m, d",
            "PARTITION BY k ORDER BY n NULLS FIRST, s, f, m, d",
            "PARTITION BY k ORDER BY s, n, f, m, d",
            "PARTITION BY b ORDER BY n, s, f, m, d, k",
        ],
    ),
    Kind(
        "SELECT k, n, sum(n) OVER (PARTITION BY k ORDER BY n, s, f, m, d {}) AS v FROM t",
        &[
            "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
            "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        ],
    ),
    Kind(
        "SELECT k, count(*) OVER (ORDER BY k RANGE BETWEEN {} AND CURRENT ROW) AS v FROM t",
        &["1 PRECEDING", "2 PRECEDING", "UNBOUNDED PRECEDING", "CURRENT ROW"],
    ),
    Kind(
        "SELECT k, count(*) OVER (ORDER BY k {} BETWEEN 1 PRECEDING AND CURRENT ROW) AS v FROM t",
        &["RANGE", "GROUPS", "ROWS"],
    ),
    // CTEs and recursion.
    Kind(
        "WITH c AS (SELECT k, {} AS v FROM t GROUP BY k) SELECT count(*) AS v, sum(x.v) AS w FROM c AS x JOIN c AS y ON x.v = y.v",
        &["count(*)", "sum(n)", "max(n)", "min(n)", "count(DISTINCT s)"],
    ),
    Kind(
        "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + {} FROM r WHERE x < 9) SELECT count(*) AS v, sum(x) AS w FROM r",
        &["1", "2", "3", "4"],
    ),
    Kind(
        "WITH RECURSIVE r AS (SELECT {} AS x UNION ALL SELECT x + 1 FROM r WHERE x < 9) SELECT count(*) AS v, sum(x) AS w FROM r",
        &["1", "2", "3", "7"],
    ),
];
