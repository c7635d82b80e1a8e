//! Rows that do not fit their table: counted and located, kept on request, an error if so wished.

use insta::assert_snapshot;

use crate::place::{Place, Ran};
use crate::shop;

fn read(content: impl AsRef<[u8]>, options: &[&str]) -> (Place, Ran) {
    let place = Place::with("t.csv", content);
    let options = match options.contains(&"--strict") {
        true => options.to_vec(),
        false => [&["--lenient"], options].concat(),
    };
    let ran = place.query("SELECT * FROM t", &[&["-t", "t=t.csv"], &options[..]].concat());
    (place, ran)
}

const RAGGED: &str = "id,n\n1,2\n3\n4,5,6\n7,8\n";

#[test]
fn a_wrong_number_of_fields_is_counted_and_located() {
    assert_snapshot!(read(RAGGED, &[]).1, @"
    exit 0
    --- stdout
    id,n
    1,2
    7,8
    --- stderr
    warning: 2 rows of t did not fit and were left out
      t.csv:3: expected 2 fields, found 1
      t.csv:4: expected 2 fields, found 3
      (--rejects DIR keeps them, --strict makes them an error)
    ");
}

#[test]
fn quiet_only_counts_them() {
    assert_snapshot!(read(RAGGED, &["--quiet"]).1, @"
    exit 0
    --- stdout
    id,n
    1,2
    7,8
    --- stderr
    warning: 2 rows of t did not fit and were left out
    ");
}

fn ask(place: &Place, options: &[&str]) -> Ran {
    place.query("SELECT count(*) AS n FROM t", &[&["-t", "t=t.csv"], options].concat())
}

#[test]
fn too_many_of_them_are_an_error() {
    let place = Place::with("t.csv", RAGGED);
    assert_snapshot!(ask(&place, &[]), @"
    exit 1
    --- stderr
    warning: 2 rows of t did not fit and were left out
      t.csv:3: expected 2 fields, found 1
      t.csv:4: expected 2 fields, found 3
      (--rejects DIR keeps them, --strict makes them an error)
    error[CDL-1022]: table `t`: 2 of 4 rows do not fit; at most 10 % may be left out
    hint: say how the files are written (docs/files.md), or that this is as it should be: --lenient, or --rejected-max PERCENT
    ");
    assert_eq!(ask(&place, &["--rejected-max", "50"]).code, Some(0));
    assert_eq!(ask(&place, &["--rejected-max", "49.9%"]).code, Some(1));
    assert_eq!(ask(&place, &["--rejected-max", "101"]).code, Some(2));
    assert_eq!(ask(&place, &["--lenient", "--strict"]).code, Some(2));
    assert!(ask(&place, &["--quiet"]).stderr.contains("2 rows of t did not fit"));
    let out = ask(&place, &["--out", "out"]);
    assert_eq!((out.code, place.list("out").len()), (Some(1), 0), "no partial answer stays");
}

#[test]
fn a_tenth_of_them_is_no_error_and_all_of_them_always_are() {
    let tenth = "a,b\n".to_string() + &"1,2\n".repeat(9) + "1\n";
    assert_eq!(ask(&Place::with("t.csv", tenth), &[]).code, Some(0));
    let all = Place::with("t.csv", "a,b\n1\n2\n");
    let ran = ask(&all, &["--rejected-max", "100"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("error[CDL-1022]"), "{ran}");
    assert_eq!(ask(&all, &["--lenient"]).stdout, "n\n0\n");
}

#[test]
fn they_are_kept_where_one_says() {
    let (place, ran) = read(RAGGED, &["--rejects", "kept/here"]);
    assert_snapshot!(ran, @"
    exit 0
    --- stdout
    id,n
    1,2
    7,8
    --- stderr
    warning: 2 rows of t did not fit and were left out
      t.csv:3: expected 2 fields, found 1
      t.csv:4: expected 2 fields, found 3
      (kept in kept/here/t.csv)
    ");
    assert_snapshot!(place.read("kept/here/t.csv"), @r#"
    file,line,column,reason,record
    t.csv,3,,"expected 2 fields, found 1",3
    t.csv,4,,"expected 2 fields, found 3","4,5,6"
    "#);
    let (place, ran) = read(RAGGED, &["--rejects", "kept", "--quiet"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(place.read("kept/t.csv").lines().count(), 3);
}

#[test]
fn strict_makes_the_first_an_error() {
    assert_snapshot!(read(RAGGED, &["--strict"]).1, @"
    exit 1
    --- stderr
    error[CDL-1008]: t.csv:3: expected 2 fields, found 1
    hint: without --strict, such rows are counted and skipped
    ");
}

#[test]
fn only_the_first_of_many_are_described() {
    let many = "a,b\n".to_string() + &"x\n".repeat(25);
    assert_snapshot!(read(many, &[]).1, @"
    exit 0
    --- stdout
    a,b
    --- stderr
    warning: t.csv: the header has 2 names, and rows have 1 field; {fields=1} takes them for right (names after one that is missing or too many are then those of their neighbours), {skip=1, header=false} leaves the names out, {skip=N} passes over lines before the header
    warning: 25 rows of t did not fit and were left out
      t.csv:2: expected 2 fields, found 1
      t.csv:3: expected 2 fields, found 1
      t.csv:4: expected 2 fields, found 1
      t.csv:5: expected 2 fields, found 1
      t.csv:6: expected 2 fields, found 1
      t.csv:7: expected 2 fields, found 1
      t.csv:8: expected 2 fields, found 1
      t.csv:9: expected 2 fields, found 1
      t.csv:10: expected 2 fields, found 1
      t.csv:11: expected 2 fields, found 1
      ... and 15 more
      (--rejects DIR keeps them, --strict makes them an error)
    ");
}

#[test]
fn a_text_where_the_suite_declares_a_number() {
    let rows = "id,Item,price,at\nfour,pen,1.10,2024-01-01 00:00:00\n5,pen,cheap,2024-01-01\n";
    let place = shop::with_all_sales().and("data/sales_3.csv", rows);
    assert_snapshot!(shop::run(&place, &["--lenient"]), @"
    exit 0
    --- stdout
    id,item,price,at
    1,pen,1.10,2024-01-31 09:00:00
    2,ink,2.20,2024-02-01 10:30:00
    3,pen,1.10,2024-03-05 23:59:59
    --- stderr
    warning: 2 rows of sales did not fit and were left out
      data/sales_3.csv:2: column `id`: `four` is not a valid int64
      data/sales_3.csv:3: column `price`: `cheap` is not a valid decimal(8,2)
      (--rejects DIR keeps them, --strict makes them an error)
    ");
    assert_snapshot!(shop::run(&place, &["--strict"]), @"
    exit 1
    --- stderr
    error[CDL-1008]: data/sales_3.csv:2: column `id`: `four` is not a valid int64
    hint: without --strict, such rows are counted and skipped
    ");
}

#[test]
fn a_text_beyond_the_rows_that_types_are_guessed_from() {
    // 18.7 MB of them: more than is looked at, in the beginning, in the middle and at the end.
    let numbers = |rows: std::ops::Range<u32>| -> String {
        rows.map(|n| format!("{}\n", 1_000_000_000 + n)).collect()
    };
    let (before, after) = (numbers(0..1_200_000), numbers(1_200_000..1_700_000));
    let (_, ran) = read(format!("n\n{before}many\n{after}"), &["--out", "out"]);
    assert_snapshot!(ran, @r#"
    exit 0
    --- stderr
    warning: 1 row of t did not fit and was left out
      t.csv:1200002: column `n`: `many` is not a valid int64
      (--rejects DIR keeps them, --strict makes them an error)
      ({types={n="text"}} in braces after the files reads such columns as text)
    query  1700000 rows
    left out: 1 of 1700001 rows of t
    "#);
}

#[test]
fn invalid_utf_8() {
    assert_snapshot!(read(b"id,s\n1,ok\n2,\xff\xfe\n3,ok\n", &[]).1, @r#"
    exit 0
    --- stdout
    id,s
    1,ok
    3,ok
    --- stderr
    warning: t.csv: line 3 is not UTF-8 (byte 0xff); {encoding="windows-1252"} or "latin-1" reads it otherwise
    warning: 1 row of t did not fit and was left out
      t.csv:3: column `s`: byte 0xff after 0 characters is not UTF-8
      (--rejects DIR keeps them, --strict makes them an error)
      ({encoding="windows-1252"} or "latin-1" in braces after the files reads text that is not UTF-8)
    "#);
}

#[test]
fn a_quote_that_is_never_closed() {
    assert_snapshot!(read("id,s\n1,\"ok\"\n2,\"open\n3,x\n", &[]).1, @"
    exit 0
    --- stdout
    id,s
    1,ok
    --- stderr
    warning: 1 row of t did not fit and was left out
      t.csv:3: the quote opened on line 3 is never closed; the rest of the file is this record
      (--rejects DIR keeps them, --strict makes them an error)
    ");
}

#[test]
fn what_was_left_out_is_told_to_programs_in_json() {
    let place = Place::with("t.csv", "a,b\n1,2\n3\n");
    let ask = |options: &[&str]| {
        let asked = ["-t", "t=t.csv", "--lenient", "--format", "json"];
        place.query("SELECT * FROM t", &[&asked[..], options].concat())
    };
    assert_snapshot!(ask(&[]), @r#"
    exit 0
    --- stdout
    [{"a":1,"b":2}]
    --- stderr
    {"first":["t.csv:3: expected 2 fields, found 1"],"rejected":1,"rows":1,"table":"t"}
    "#);
    assert_eq!(ask(&["--quiet"]).stderr, "{\"rejected\":1,\"rows\":1,\"table\":\"t\"}\n");
}

#[test]
fn strict_rows_are_there_for_all_columns_or_for_none() {
    let rows = format!("a,b\n{}x,2\n1,y\n", "1,2\n".repeat(20));
    let place = Place::with("t.csv", rows);
    let table = "t=t.csv{types={a='int', b='int'}}";
    let count =
        |sql: &str, options: &[&str]| place.query(sql, &[&["-t", table], options].concat()).stdout;
    assert_eq!(count("SELECT count(*) FROM t", &[]), "count(*)\n22\n");
    assert_eq!(count("SELECT count(a) FROM t", &[]), "count(a)\n21\n");
    for sql in [
        "SELECT count(*) AS n FROM t",
        "SELECT count(a) AS n FROM t",
        "SELECT count(a + b) AS n FROM t",
    ] {
        assert_eq!(count(sql, &["--strict-rows"]), "n\n20\n");
    }
}
