//! Tables of whatever files people have, asked about as if they were CSV.

use insta::assert_snapshot;

use crate::place::Place;
use crate::small_cluster::SmallCluster;

const ROWS: &str = "id,name,price\n1,pen,0.5\n2,ink,1.25\n3,pad,\n";

/// The same rows as files of every format that `caudal` writes.
fn written() -> Place {
    let place = Place::with("t.csv", ROWS);
    for format in ["parquet", "ndjson", "json", "csv"] {
        let args = ["-t", "t=t.csv", "--out", format, "--format", format];
        place.query("SELECT * FROM t", &args);
    }
    place
}

#[test]
fn what_was_written_is_read() {
    let place = written();
    let sql = "SELECT name, sum(price) AS sum, count(*) AS n FROM t GROUP BY name ORDER BY name";
    let expected = place.query(sql, &["-t", "t=t.csv"]).answer();
    assert_eq!(expected, "name,sum,n\nink,1.25,1\npad,,1\npen,0.5,1\n");
    for format in ["parquet", "ndjson", "json", "csv"] {
        assert_eq!(
            place.query(sql, &["-t", &format!("t={format}")]).answer(),
            expected,
            "{format}"
        );
    }
}

#[test]
fn tables_of_several_formats_meet() {
    let place = written().and("more.json", "{\"id\":2,\"tags\":[\"a\",\"b\"]}\n{\"id\":3}\n");
    let sql = "SELECT t.name, m.tags[1] AS tag FROM t JOIN m ON m.id = t.id ORDER BY t.id";
    let rows = place.query(sql, &["-t", "t=parquet", "-t", "m=more.json"]).answer();
    assert_eq!(rows, "name,tag\nink,a\npad,\n");
}

#[test]
fn standard_input_is_a_table() {
    let place = Place::new();
    let args = ["query", "-t", "t=-", "-c", "SELECT sum(id) AS sum FROM t"];
    assert_eq!(place.caudal_reading(ROWS, &args).answer(), "sum\n6\n");
    let lines = "{\"id\":7}\n{\"id\":8}\n";
    assert_eq!(place.caudal_reading(lines, &args).answer(), "sum\n15\n");
}

#[test]
fn the_rows_of_a_long_stream_are_all_there() {
    let rows: String = (0..1_000_000).map(|n| format!("{n},some text\n")).collect();
    let args = ["query", "-t", "t=-", "-c", "SELECT count(*) AS n, max(id) AS most FROM t"];
    let ran = Place::new().caudal_reading(&format!("id,text\n{rows}"), &args);
    assert_eq!(ran.answer(), "n,most\n1000000,999999\n");
}

#[test]
fn lines_that_do_not_fit_are_told() {
    let place = Place::with("t.json", "{\"a\":1}\n{\"a\":\n[]\n{\"a\":3}\n");
    assert_snapshot!(place.query("SELECT sum(a) AS sum FROM t", &["-t", "t=t.json", "--lenient"]), @"
    exit 0
    --- stdout
    sum
    4
    --- stderr
    warning: 2 rows of t did not fit and were left out
      t.json:2: not an object of JSON: it ends too early
      t.json:3: not an object of JSON: it does not begin with a brace
      (--rejects DIR keeps them, --strict makes them an error)
    ");
    let ran = place.query("SELECT sum(a) AS sum FROM t", &["-t", "t=t.json"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("error[CDL-1022]"), "{ran}");
}

#[test]
fn a_file_that_is_cut_off_is_an_error() {
    let place = written();
    let whole = std::fs::read(place.path("parquet/query.parquet")).unwrap();
    let place = place.and("cut", &whole[..whole.len() / 2]);
    assert_snapshot!(place.query("SELECT * FROM t", &["-t", "t=cut"]), @"
    exit 2
    --- stderr
    error[CDL-1043]: cut: not a readable Parquet file: Parquet error: Invalid Parquet file. Corrupt footer
    hint: it was probably not copied or written to its end: get it again
    ");
}

#[test]
fn a_cluster_has_the_rows_of_any_file() {
    let cluster = SmallCluster::start();
    let nested = "{\"id\":1,\"o\":{\"x\":[1.5,null]},\"l\":[{\"k\":\"a\"}]}\n{\"id\":2,\"l\":[]}\n";
    let place = written().and("nested.json", nested);
    let options =
        ["-t", "t=parquet", "-t", "m=nested.json", "--gateway", cluster.gateways.as_str()];
    let sql = "SELECT t.name, m.o, m.l FROM t JOIN m ON m.id = t.id ORDER BY t.id";
    let here = place.query(sql, &options[..4]).answer();
    assert_eq!(place.query(sql, &options).answer(), here);
    let args = ["query", "-t", "t=-", "-c", "SELECT sum(id) AS sum FROM t"];
    let args = [&args[..], &options[4..]].concat();
    assert_eq!(place.caudal_reading(ROWS, &args).answer(), "sum\n6\n");
}

#[test]
fn a_file_of_any_format_is_named_where_it_is_asked_about() {
    let place = written();
    let expected = "n,sum\n3,6\n";
    for file in ["parquet/query.parquet", "ndjson", "json/*", "t.csv"] {
        let sql = format!("SELECT count(*) AS n, sum(id) AS sum FROM '{file}'");
        assert_eq!(place.query(&sql, &[]).answer(), expected, "{file}");
        let sql = sql.replace(&format!("'{file}'"), "t");
        assert_eq!(place.caudal(&["query", file, "-c", &sql]).answer(), expected, "{file}");
    }
    let args = ["query", "-", "-c", "SELECT sum(a) AS sum FROM t"];
    assert_eq!(place.caudal_reading("a;b\n1;2\n3;4\n", &args).stdout, "sum\n4\n");
    let args = ["query", "-c", "SELECT sum(b) AS sum FROM '-{delimiter=\";\"}'"];
    assert_eq!(place.caudal_reading("a;b\n1;2\n3;4\n", &args).answer(), "sum\n6\n");
}

#[test]
fn a_schema_of_any_format() {
    let place = written().and("t.json", "{\"a\":1,\"l\":[1.5]}\n");
    assert_snapshot!(place.caudal(&["schema", "parquet", "--format", "table"]), @"
    exit 0
    --- stdout
    parquet: 3 rows, Parquet
    ╭────────┬───────┬───────────────╮
    │ column ┆ type  ┆ samples       │
    ╞════════╪═══════╪═══════════════╡
    │ id     ┆ int   ┆ 1, 2, 3       │
    │ name   ┆ text  ┆ pen, ink, pad │
    │ price  ┆ float ┆ 0.5, 1.25     │
    ╰────────┴───────┴───────────────╯
    ");
    let json = place.caudal(&["schema", "t.json{types={a='text'}}"]).answer();
    assert!(json.contains("a,text,1,1,0,JSON,"), "{json}");
    let piped = place.caudal_reading(ROWS, &["schema", "-"]).answer();
    assert!(piped.contains(",3,0,"), "{piped}");
    let wrong = place.caudal(&["schema", "parquet{delimiter=';'}"]);
    assert!(wrong.code == Some(2) && wrong.stderr.starts_with("error[CDL-1020]"), "{wrong}");
}
