//! Queries that are planned in no time and would run for ever, or make much of little.

use crate::attack::{Attack, RIGHT};

const TOO_MUCH: &[&str] = &["CDL-3005"];
/// The bound of a function, or of what plans may take.
const TOO_LARGE: &[&str] = &["CDL-3005", "CDL-2014"];
/// Its time was over, or its memory.
const TOO_LONG: &[&str] = &["CDL-3010", "CDL-3001"];
const RIGHT_OR_TOO_LONG: &[&str] = &[RIGHT, "CDL-3010", "CDL-3001", "CDL-3005"];

pub fn attacks() -> Vec<Attack> {
    let sql = Attack::sql;
    vec![
        sql(
            "repeat, 4,000,000,000,000,000,000 times",
            TOO_MUCH,
            "SELECT length(repeat(arrow_cast('x','LargeUtf8'), 4000000000000000000))",
            "",
        ),
        sql("repeat of repeat", TOO_MUCH, "SELECT length(repeat(repeat('x', 6000000), 60))", ""),
        // What each call may make, and too much for a plan that has it in many places.
        sql(
            "a constant of 60 MB",
            TOO_LARGE,
            "SELECT length(repeat(repeat('x', 60000000), 60))",
            "",
        ),
        sql(
            "repeat of every row",
            TOO_MUCH,
            "SELECT max(length(repeat('x', v * 1000))) FROM few ",
            "",
        ),
        sql("lpad to two billion", TOO_MUCH, "SELECT length(lpad('x', 2000000000))", ""),
        sql("rpad of every row", TOO_MUCH, "SELECT max(rpad(k, 1000000, 'y')) FROM few ", ""),
        sql("range of ten billion", TOO_MUCH, "SELECT cardinality(range(0, 10000000000))", ""),
        sql(
            "a list of three billion",
            TOO_MUCH,
            "SELECT cardinality(array_repeat(1, 3000000000))",
            "",
        ),
        sql(
            "array_resize to a billion",
            TOO_MUCH,
            "SELECT cardinality(array_resize([1], 1000000000, 2))",
            "",
        ),
        sql(
            "replace of each letter by a megabyte",
            TOO_MUCH,
            "SELECT length(replace(repeat('a', 100000), 'a', repeat('b', 1000000)))",
            "",
        ),
        sql(
            "regexp_replace of each letter by a megabyte",
            TOO_MUCH,
            "SELECT length(regexp_replace(repeat('a', 100000), 'a', repeat('b', 1000000), 'g'))",
            "",
        ),
        sql(
            "a regular expression that grows",
            &["CDL-3002", "CDL-2008"],
            "SELECT regexp_like('a', '((((a{100}){100}){100}){100}){100}')",
            "",
        ),
        sql(
            "a regular expression that looks back",
            &[RIGHT],
            "SELECT count(*) FROM few WHERE regexp_like(repeat('a', 3000), '^(a|a)*(a|a)*b$')",
            "0",
        ),
        sql(
            "string_agg of a megabyte, for ever",
            &["CDL-3005", "CDL-3001", "CDL-3010"],
            "SELECT length(string_agg(repeat('x', 1000000), ',')) FROM generate_series(1, 100000)",
            "",
        ),
        sql(
            "array_agg without end",
            TOO_LONG,
            "SELECT cardinality(array_agg(value)) FROM generate_series(1, 100000000000)",
            "",
        ),
        sql(
            "generate_series without end",
            TOO_LONG,
            "SELECT count(*) FROM generate_series(1, 100000000000)",
            "",
        ),
        sql(
            "generate_series with itself",
            TOO_LONG,
            "SELECT count(*) FROM generate_series(1, 1000000) p, generate_series(1, 1000000) q WHERE p.value * q.value = -1",
            "",
        ),
        sql(
            "a recursive query without end",
            TOO_LONG,
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
            "",
        ),
        sql(
            "a recursive query that doubles",
            TOO_LONG,
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n FROM r, (VALUES (1), (2)) v(x)) SELECT count(*) FROM r",
            "",
        ),
        sql(
            "the cross join of 200,000 rows each",
            TOO_LONG,
            "SELECT count(*) FROM a, b WHERE a.x * b.y = -1",
            "",
        ),
        sql(
            "a join of two keys",
            RIGHT_OR_TOO_LONG,
            "SELECT count(*) FROM few p JOIN few q ON p.k = q.k",
            "450000000",
        ),
        sql(
            "a join of two keys, and a filter that takes nothing",
            RIGHT_OR_TOO_LONG,
            "SELECT count(*) FROM few p JOIN few q ON p.k = q.k AND p.v + q.v < 0",
            "0",
        ),
        sql(
            "a window over everything before",
            RIGHT_OR_TOO_LONG,
            "SELECT count(*) FROM (SELECT median(v) OVER (ORDER BY v) AS m FROM few ) WHERE m < 0",
            "0",
        ),
        sql(
            "a sort of long texts",
            RIGHT_OR_TOO_LONG,
            "SELECT count(*) FROM (SELECT repeat(CAST(v AS VARCHAR), 1000) AS t FROM few ORDER BY t LIMIT 29999)",
            "29999",
        ),
        sql(
            "a division by zero in the last row",
            &["CDL-3002"],
            "SELECT sum(1 / (v - 29999)) FROM few ",
            "",
        ),
    ]
}
