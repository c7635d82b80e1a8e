//! A query that fails while it runs fails alone: the others are answered.

use insta::assert_snapshot;

use crate::place::Place;
use crate::shop;

const QUERIES: [(&str, &str); 4] = [
    ("count", "SELECT count(*) AS n FROM sales"),
    ("divides", "SELECT id, 10 / (id - 2) AS x FROM sales"),
    ("casts", "SELECT sum(CAST(item AS INT)) AS x FROM sales"),
    ("items", "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"),
];

#[test]
fn the_others_are_answered_on_stdout() {
    assert_snapshot!(shop::run(&shop::with_queries(&QUERIES), &[]), @"
    exit 1
    --- stdout
    # count: About count
    n
    3

    # items: About items
    item,n
    ink,1
    pen,2

    --- stderr
    error[CDL-3002]: divides: division by zero
    error[CDL-3002]: casts: cannot cast string 'pen' to value of INT type
    ");
}

#[test]
fn the_others_are_answered_in_files_and_every_status_is_told() {
    let place = shop::with_queries(&QUERIES);
    assert_snapshot!(shop::run(&place, &["--out", "out"]), @"
    exit 1
    --- stderr
    count          1 row   About count
    divides        failed  About divides
    casts          failed  About casts
    items          2 rows  About items
    error[CDL-3002]: divides: division by zero
    error[CDL-3002]: casts: cannot cast string 'pen' to value of INT type
    ");
    assert_eq!(place.list("out"), ["count.csv", "items.csv"]);
    assert_eq!(place.read("out/items.csv"), "item,n\nink,1\npen,2\n");
}

#[test]
fn a_query_that_cannot_be_planned_is_no_obstacle_to_the_others() {
    let queries = [
        ("count", "SELECT count(*) AS n FROM sales"),
        ("column", "SELECT nothing FROM sales"),
        ("items", "SELECT count(DISTINCT item) AS n FROM sales"),
        ("syntax", "SELECT count("),
    ];
    let place = shop::with_queries(&queries);
    let ran = shop::run(&place, &["--out", "out"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert_eq!(place.list("out"), ["count.csv", "items.csv"]);
    let told = |text: &str| assert!(ran.stderr.contains(text), "{text}: {ran}");
    told("count         1 row   About count\n");
    told("column       refused  About column\n");
    told("error[CDL-2003]: column: there is no column \"nothing\"\n --> line 1, column 8\n");
    told("error[CDL-2001]: syntax: ");
    let ran = shop::run(&place, &[]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert_eq!(ran.stdout, "# count: About count\nn\n3\n\n# items: About items\nn\n2\n\n");
}

#[test]
fn where_no_query_can_be_planned_each_is_told() {
    let place = shop::with_queries(&[("one", "SELECT a FROM sales"), ("two", "SELECT")]);
    let ran = shop::run(&place, &["--out", "out"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran}");
    assert!(ran.stderr.contains("error[CDL-2003]: one: "), "{ran}");
    assert!(ran.stderr.contains("error[CDL-2001]: two: "), "{ran}");
}

#[test]
fn a_single_query_that_fails_prints_no_rows() {
    let place = Place::with("t.csv", "id\n1\n2\n");
    for format in ["csv", "json", "ndjson", "markdown", "table"] {
        let options = ["-t", "t=t.csv", "--format", format];
        let ran = place.query("SELECT sum(10 / (id - 2)) AS x FROM t", &options);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran}");
        assert!(ran.stderr.starts_with("error[CDL-3002]: query: "), "{ran}");
    }
}

#[test]
fn too_little_memory_is_told_with_what_to_do() {
    let rows: String = (0..20_000).map(|n| format!("{n},{}\n", "x".repeat(100))).collect();
    let place = Place::with("t.csv", format!("id,s\n{rows}"));
    let sql = "SELECT s, array_agg(id) AS ids, count(DISTINCT id) AS n FROM t GROUP BY s";
    let ran = place.query(sql, &["-t", "t=t.csv", "--memory", "64K", "--shards", "1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran}");
    assert!(ran.stderr.starts_with("error[CDL-3001]: query: not enough memory: "), "{ran}");
    let hint = "hint: give it more with --memory, or divide it over more --shards\n";
    assert!(ran.stderr.ends_with(hint), "{ran}");
}
