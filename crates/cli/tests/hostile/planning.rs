//! Queries that are too deep, too long or too many to plan, and those that ask for what is not there to be asked for.

use crate::attack::{Attack, RIGHT};

const TOO_DEEP: &[&str] = &["CDL-2001"];
/// By its length, its bound, or what a planner may take of memory and time.
const TOO_MUCH: &[&str] = &["CDL-2001", "CDL-2010", "CDL-2014", "CDL-2015", "CDL-3005", "CDL-3010"];
const RIGHT_OR_TOO_MUCH: &[&str] =
    &[RIGHT, "CDL-2001", "CDL-2010", "CDL-2014", "CDL-2015", "CDL-3005", "CDL-3010"];

pub fn attacks() -> Vec<Attack> {
    let listed = |count: usize, item: fn(usize) -> String, by: &str| -> String {
        (0..count).map(item).collect::<Vec<_>>().join(by)
    };
    let nested = |before: &str, inner: &str, after: &str, depth: usize| {
        format!("SELECT {}{inner}{}", before.repeat(depth), after.repeat(depth))
    };
    let selects =
        (0..8_000).fold("1 AS x".to_string(), |inner, _| format!("x FROM (SELECT {inner})"));
    let doubling = (1..40).fold("a0 AS (SELECT 1 AS x)".to_string(), |ctes, n| {
        let before = n - 1;
        format!("{ctes}, a{n} AS (SELECT p.x FROM a{before} p JOIN a{before} q ON p.x = q.x)")
    });
    vec![
        Attack::sql(
            "IS NULL 100,000 times",
            TOO_DEEP,
            format!("SELECT 1{}", " IS NULL".repeat(100_000)),
            "",
        ),
        Attack::sql("100,000 parentheses", TOO_DEEP, nested("(", "1", ")", 100_000), ""),
        Attack::sql("NOT 100,000 times", TOO_DEEP, nested("NOT ", "true", "", 100_000), ""),
        Attack::sql("minus 100,000 times", TOO_DEEP, nested("- ", "1", "", 100_000), ""),
        Attack::sql(
            "a function of itself, 20,000 deep",
            TOO_DEEP,
            nested("abs(", "1", ")", 20_000),
            "",
        ),
        Attack::sql(
            "CASE in CASE, 10,000 deep",
            TOO_DEEP,
            nested("CASE WHEN true THEN ", "1", " END", 10_000),
            "",
        ),
        Attack::sql("lists of lists, 20,000 deep", TOO_DEEP, nested("[", "1", "]", 20_000), ""),
        Attack::sql("subqueries, 8,000 deep", TOO_DEEP, format!("SELECT {selects}"), ""),
        Attack::sql(
            "a sum of 100,000 terms",
            TOO_DEEP,
            format!("SELECT {}", vec!["1"; 100_000].join(" + ")),
            "",
        ),
        Attack::sql(
            "50,000 conditions",
            TOO_MUCH,
            format!(
                "SELECT count(*) FROM few WHERE {}",
                listed(50_000, |n| format!("v={n}"), " OR ")
            ),
            "",
        ),
        Attack::sql(
            "SQL of two megabytes",
            &["CDL-2010"],
            format!("SELECT 1{}", " ".repeat(2 << 20)),
            "",
        ),
        Attack::sql(
            "a name of 900 KB",
            &["CDL-2003", "CDL-2008"],
            format!("SELECT \"{}\"", "x".repeat(900_000)),
            "",
        ),
        Attack::sql(
            "IN of 50,000 values",
            RIGHT_OR_TOO_MUCH,
            format!(
                "SELECT count(*) FROM few WHERE v IN ({})",
                listed(50_000, |n| n.to_string(), ",")
            ),
            "30000",
        ),
        Attack::sql(
            "VALUES of 50,000 rows",
            RIGHT_OR_TOO_MUCH,
            format!("SELECT count(*) FROM (VALUES {})", listed(50_000, |n| format!("({n})"), ",")),
            "50000",
        ),
        Attack::sql(
            "UNION of 1,500 selects",
            RIGHT_OR_TOO_MUCH,
            format!(
                "SELECT count(*) FROM ({})",
                listed(1_500, |n| format!("SELECT {n}"), " UNION ALL ")
            ),
            "1500",
        ),
        Attack::sql(
            "5,000 columns",
            RIGHT_OR_TOO_MUCH,
            format!(
                "SELECT count(*) FROM (SELECT {} FROM few)",
                listed(5_000, |n| format!("v + {n} AS c{n}"), ",")
            ),
            "30000",
        ),
        Attack::sql(
            "40 CTEs, each twice the one before",
            TOO_MUCH,
            format!("WITH {doubling} SELECT count(*) FROM a39"),
            "",
        ),
        Attack::sql(
            "a join of 60 tables",
            RIGHT_OR_TOO_MUCH,
            format!(
                "SELECT count(*) FROM {}",
                listed(60, |n| format!("(VALUES (1)) AS t{n}(x{n})"), ", ")
            ),
            "1",
        ),
        Attack::sql(
            "a constant of 900 KB beside every row",
            &["CDL-3005"],
            format!("SELECT max(concat('{}', v)) FROM few", "x".repeat(900_000)),
            "",
        ),
        Attack::sql("DROP TABLE", &["CDL-2005"], "DROP TABLE few", ""),
        Attack::sql(
            "COPY to a file of the machine",
            &["CDL-2005", "CDL-2001"],
            "COPY few TO '/tmp/stolen.csv'",
            "",
        ),
        Attack::sql(
            "CREATE EXTERNAL TABLE of a file of the machine",
            &["CDL-2005", "CDL-2001"],
            "CREATE EXTERNAL TABLE p (line VARCHAR) STORED AS CSV LOCATION '/etc/passwd'",
            "",
        ),
        Attack::sql(
            "the schema of everything",
            &["CDL-2002"],
            "SELECT * FROM information_schema.tables",
            "",
        ),
    ]
}

/// Last of all that has something planned: for as long as a planner is at it, its tenant waits for the other one.
pub fn slowest() -> Attack {
    Attack::sql(
        "levenshtein of long texts",
        &["CDL-2015", "CDL-3010", "CDL-3005"],
        "SELECT levenshtein(repeat('a', 3000000), repeat('b', 3000000))",
        "",
    )
}
