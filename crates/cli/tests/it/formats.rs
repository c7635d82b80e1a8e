//! Formats of results, on stdout and in files, with the values that are hard.

use std::fs::File;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};
use insta::assert_snapshot;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::place::Place;
use crate::shop;

const ROWS: &str = "\
id,name,tags,price,at,day,sold
1,\"Plain\",a;b,9.90,2024-02-29 23:59:59,2024-02-29,true
2,\"Comma, \"\"quote\"\" | pipe\",,,,,
3,\"two
lines\",solo,-0.05,2024-01-01 00:00:00.250,1969-12-31,false
4,拯救大魔王 ñandú 🦀,x;y;z,12345.67,2024-01-01 06:00:00,2024-01-01,true
";

const SQL: &str = "
    SELECT id, name, string_to_array(tags, ';') AS tags, CAST(price AS DECIMAL(10, 2)) AS price,
           price * 2 AS twice, at, day, sold
    FROM t ORDER BY id";

fn place() -> Place {
    Place::with("t.csv", ROWS).and("q.sql", SQL)
}

fn on_stdout(format: &[&str]) -> String {
    place().caudal(&[&["query", "-f", "q.sql", "-t", "t=t.csv"], format].concat()).answer()
}

#[test]
fn csv() {
    assert_snapshot!(on_stdout(&["--format", "csv"]), @r#"
    id,name,tags,price,twice,at,day,sold
    1,Plain,a|b,9.90,19.8,2024-02-29 23:59:59,2024-02-29,true
    2,"Comma, ""quote"" | pipe",,,,,,
    3,"two
    lines",solo,-0.05,-0.1,2024-01-01 00:00:00.250,1969-12-31,false
    4,拯救大魔王 ñandú 🦀,x|y|z,12345.67,24691.34,2024-01-01 06:00:00,2024-01-01,true
    "#);
}

#[test]
fn csv_is_what_a_pipe_gets() {
    assert_eq!(on_stdout(&[]), on_stdout(&["--format", "csv"]));
}

#[test]
fn json() {
    assert_snapshot!(on_stdout(&["--format", "json"]).replace("},{", "},\n{"), @r#"
    [{"id":1,"name":"Plain","tags":["a","b"],"price":9.90,"twice":19.8,"at":"2024-02-29T23:59:59","day":"2024-02-29","sold":true},
    {"id":2,"name":"Comma, \"quote\" | pipe","tags":null,"price":null,"twice":null,"at":null,"day":null,"sold":null},
    {"id":3,"name":"two\nlines","tags":["solo"],"price":-0.05,"twice":-0.1,"at":"2024-01-01T00:00:00.250","day":"1969-12-31","sold":false},
    {"id":4,"name":"拯救大魔王 ñandú 🦀","tags":["x","y","z"],"price":12345.67,"twice":24691.34,"at":"2024-01-01T06:00:00","day":"2024-01-01","sold":true}]
    "#);
}

#[test]
fn ndjson() {
    assert_snapshot!(on_stdout(&["--format", "ndjson"]), @r#"
    {"id":1,"name":"Plain","tags":["a","b"],"price":9.90,"twice":19.8,"at":"2024-02-29T23:59:59","day":"2024-02-29","sold":true}
    {"id":2,"name":"Comma, \"quote\" | pipe","tags":null,"price":null,"twice":null,"at":null,"day":null,"sold":null}
    {"id":3,"name":"two\nlines","tags":["solo"],"price":-0.05,"twice":-0.1,"at":"2024-01-01T00:00:00.250","day":"1969-12-31","sold":false}
    {"id":4,"name":"拯救大魔王 ñandú 🦀","tags":["x","y","z"],"price":12345.67,"twice":24691.34,"at":"2024-01-01T06:00:00","day":"2024-01-01","sold":true}
    "#);
}

#[test]
fn markdown() {
    assert_snapshot!(on_stdout(&["--format", "markdown"]), @r#"
    | id | name | tags | price | twice | at | day | sold |
    | ---: | --- | --- | ---: | ---: | --- | --- | --- |
    | 1 | Plain | a\|b | 9.90 | 19.8 | 2024-02-29 23:59:59 | 2024-02-29 | true |
    | 2 | Comma, "quote" \| pipe |  |  |  |  |  |  |
    | 3 | two lines | solo | -0.05 | -0.1 | 2024-01-01 00:00:00.250 | 1969-12-31 | false |
    | 4 | 拯救大魔王 ñandú 🦀 | x\|y\|z | 12345.67 | 24691.34 | 2024-01-01 06:00:00 | 2024-01-01 | true |
    "#);
}

#[test]
fn table() {
    assert_snapshot!(on_stdout(&["--format", "table"]), @r#"
    ╭────┬───────────────────────┬───────┬──────────┬──────────┬─────────────────────────┬────────────┬───────╮
    │ id ┆ name                  ┆ tags  ┆    price ┆    twice ┆ at                      ┆ day        ┆ sold  │
    ╞════╪═══════════════════════╪═══════╪══════════╪══════════╪═════════════════════════╪════════════╪═══════╡
    │  1 ┆ Plain                 ┆ a|b   ┆     9.90 ┆     19.8 ┆ 2024-02-29 23:59:59     ┆ 2024-02-29 ┆ true  │
    │  2 ┆ Comma, "quote" | pipe ┆       ┆          ┆          ┆                         ┆            ┆       │
    │  3 ┆ two lines             ┆ solo  ┆    -0.05 ┆     -0.1 ┆ 2024-01-01 00:00:00.250 ┆ 1969-12-31 ┆ false │
    │  4 ┆ 拯救大魔王 ñandú 🦀   ┆ x|y|z ┆ 12345.67 ┆ 24691.34 ┆ 2024-01-01 06:00:00     ┆ 2024-01-01 ┆ true  │
    ╰────┴───────────────────────┴───────┴──────────┴──────────┴─────────────────────────┴────────────┴───────╯
    "#);
}

#[test]
fn a_file_holds_what_stdout_shows() {
    let files = [
        ("csv", "query.csv"),
        ("json", "query.json"),
        ("ndjson", "query.ndjson"),
        ("markdown", "query.md"),
        ("table", "query.txt"),
    ];
    for (format, file) in files {
        let place = place();
        let args = ["query", "-f", "q.sql", "-t", "t=t.csv", "--out", "a/b", "--format", format];
        let ran = place.caudal(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran}");
        assert_eq!(ran.stderr, "query        4 rows\n");
        assert_eq!(place.list("a/b"), [file]);
        assert_eq!(place.read(&format!("a/b/{file}")), on_stdout(&["--format", format]));
    }
}

#[test]
fn files_are_csv_unless_said_otherwise_and_replace_older_ones() {
    let place = place().and("out/query.csv", "older and longer than what comes now");
    let args = ["query", "-c", "SELECT 1 AS one", "--out", "out", "--quiet"];
    assert_eq!(place.caudal(&args).answer(), "");
    assert_eq!(place.read("out/query.csv"), "one\n1\n");
}

#[test]
fn parquet_is_read_back() {
    let place = place();
    let args = ["query", "-f", "q.sql", "-t", "t=t.csv", "--out", "out", "--format", "parquet"];
    assert_eq!(place.caudal(&[&args[..], &["--quiet"]].concat()).answer(), "");
    let file = File::open(place.path("out/query.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let [batch] = &batches[..] else { panic!("{} batches", batches.len()) };

    let ids = batch["id"].as_primitive::<Int64Type>();
    assert_eq!(ids.values(), &[1, 2, 3, 4]);
    assert_eq!(batch["price"].data_type(), &DataType::Decimal128(10, 2));
    let prices = batch["price"].as_primitive::<Decimal128Type>();
    assert_eq!(prices.iter().collect::<Vec<_>>(), [Some(990), None, Some(-5), Some(1234567)]);
    let names: Vec<_> = texts(&batch["name"]);
    assert_eq!(names[3].as_deref(), Some("拯救大魔王 ñandú 🦀"));
    let tags = batch["tags"].as_list::<i32>();
    assert_eq!(texts(&tags.value(3)), ["x", "y", "z"].map(|tag| Some(tag.to_string())));
    assert!(matches!(batch["at"].data_type(), DataType::Timestamp(..)));
    assert_eq!(batch["day"].data_type(), &DataType::Date32);
    assert_eq!(batch["sold"].as_boolean().iter().flatten().count(), 3);
}

fn texts(array: &arrow::array::ArrayRef) -> Vec<Option<String>> {
    let text = arrow::compute::cast(array, &DataType::Utf8).unwrap();
    text.as_string::<i32>().iter().map(|value| value.map(str::to_string)).collect()
}

const TWO: [(&str, &str); 2] = [
    ("items", "SELECT item, sum(price) AS total FROM sales GROUP BY item ORDER BY item"),
    ("none", "SELECT id FROM sales WHERE id > 100"),
];

#[test]
fn several_queries_on_one_stdout() {
    let show = |format| shop::run(&shop::with_queries(&TWO), &["--format", format]).answer();
    assert_snapshot!(show("csv"), @"
    # items: About items
    item,total
    ink,2.20
    pen,2.20

    # none: About none
    id
    ");
    assert_snapshot!(show("table"), @"
    items: About items
    ╭──────┬───────╮
    │ item ┆ total │
    ╞══════╪═══════╡
    │ ink  ┆  2.20 │
    │ pen  ┆  2.20 │
    ╰──────┴───────╯

    none: About none
    ╭────╮
    │ id │
    ╞════╡
    ╰────╯
    ");
    assert_snapshot!(show("markdown"), @"
    ## items: About items

    | item | total |
    | --- | ---: |
    | ink | 2.20 |
    | pen | 2.20 |

    ## none: About none

    | id |
    | ---: |
    ");
    assert_snapshot!(show("json"), @r#"
    {"items":[{"item":"ink","total":2.20},{"item":"pen","total":2.20}],
    "none":[]}
    "#);
    assert_snapshot!(show("ndjson"), @r#"
    {"query":"items","row":{"item":"ink","total":2.20}}
    {"query":"items","row":{"item":"pen","total":2.20}}
    "#);
}

#[test]
fn several_queries_in_files() {
    let place = shop::with_queries(&TWO);
    assert_snapshot!(shop::run(&place, &["--out", "out"]), @"
    exit 0
    --- stderr
    items        2 rows  About items
    none         0 rows  About none
    ");
    assert_eq!(place.list("out"), ["items.csv", "none.csv"]);
    assert_eq!(place.read("out/none.csv"), "id\n");
}

#[test]
fn quiet_leaves_nothing_but_results() {
    let place = shop::with_queries(&TWO);
    assert_eq!(shop::run(&place, &["--out", "out", "--quiet"]).answer(), "");
}

#[test]
fn a_table_is_cut_where_nobody_reads_on() {
    let long = "x".repeat(200);
    let sql = format!("SELECT value AS n, '{long}' AS s FROM generate_series(1, 103) ORDER BY n");
    let table = Place::new().query(&sql, &["--format", "table"]).answer();
    assert!(table.contains(&format!(" {}… │", "x".repeat(79))), "{table}");
    assert!(table.contains("│ 100 ┆") && !table.contains("│ 101 ┆"), "{table}");
    assert!(
        table.ends_with(
            "… 3 more rows (--format csv or --out DIR gives all; in the shell .mode csv)\n"
        ),
        "{table}"
    );
}

#[test]
fn no_escape_codes_reach_a_pipe() {
    let ran = place().query("SELECT * FROM nothing", &["-t", "t=t.csv"]);
    assert!(!on_stdout(&["--format", "table"]).contains('\x1b'));
    assert!(ran.code == Some(1) && !ran.stderr.contains('\x1b'), "{ran}");
}
