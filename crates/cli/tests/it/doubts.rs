//! What a newcomer is told of files that are not as they seem.

use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, Instant};

use caudal_testing::skip;
use insta::assert_snapshot;

use crate::place::{Place, Ran};

fn asked(content: impl AsRef<[u8]>, sql: &str) -> Ran {
    Place::with("t.csv", content).query(sql, &["-t", "t=t.csv"])
}

#[test]
fn one_bad_value_that_makes_a_column_a_text_is_told() {
    let value = |n: usize| if n == 500 { "x".to_string() } else { n.to_string() };
    let content = (0..1000).fold("v\n".to_string(), |text, n| text + &value(n) + "\n");
    assert_snapshot!(asked(content, "SELECT max(v) FROM t"), @r#"
    exit 0
    --- stdout
    max(v)
    x
    --- stderr
    warning: t.csv: v is taken for text because of 1 of 1000 values (line 502: "x"); {types={v="int"}} makes such rows rejects, {null='x'} makes them NULL
    "#);
}

#[test]
fn names_of_json_that_come_late_are_told_and_can_be_columns() {
    // More than types are guessed from.
    let early = format!("{{\"id\":1,\"text\":\"{}\"}}\n", "x".repeat(4000)).repeat(5000);
    let place = Place::with("t.json", early + "{\"id\":2,\"late\":7}\n");
    let ran = place.query("SELECT sum(id) AS sum FROM t", &["-t", "t=t.json"]);
    assert_snapshot!(ran, @r#"
    exit 0
    --- stdout
    sum
    5002
    --- stderr
    warning: t.json: 1 object has names that are no columns: late (line 5001); {types={late="int"}} makes columns of them
    "#);
    let said = "t=t.json{types={late=\"int\"}}";
    assert_snapshot!(place.query("SELECT sum(late) AS late FROM t", &["-t", said]), @"
    exit 0
    --- stdout
    late
    7
    --- stderr
    warning: t.json: late is a column because types says so: the first objects do not have it
    ");
    let ran = place.caudal(&["schema", "t.json"]);
    assert!(ran.stderr.contains("1 object has names"), "{ran}");
}

#[test]
fn standard_input_is_one_table() {
    let args = ["query", "-t", "a=-", "-t", "b=-", "-c", "SELECT * FROM a, b"];
    assert_snapshot!(Place::new().caudal_reading("x\n1\n", &args), @"
    exit 1
    --- stderr
    error[CDL-1042]: standard input is table a, and cannot be table b as well: it comes once
    hint: ask of the one table twice, or save it as a file
    ");
}

#[test]
fn archives_and_pages_are_no_tables() {
    for (content, told) in [
        (&b"\n<!doctype html>\n<html><body>404</body></html>\n"[..], "a page in HTML"),
        (b"\x02\x03\0\0\0\0", "binary"),
    ] {
        let ran = asked(content, "SELECT * FROM t");
        assert!(ran.stderr.contains("error[CDL-1021]") && ran.stderr.contains(told), "{ran}");
    }
    let place = Place::with("t.csv", "a\n1\n");
    for args in [["-cf", "t.tar"], ["-czf", "t.tar.gz"]] {
        let tar = Command::new("tar").args(args).arg("t.csv").current_dir(place.path("")).status();
        if !tar.is_ok_and(|status| status.success()) {
            return skip("archives_and_pages_are_no_tables", "there is no tar");
        }
        let ran = place.query("SELECT * FROM t", &["-t", &format!("t={}", args[1])]);
        assert!(ran.stderr.contains("is not CSV: it is a tar archive"), "{ran}");
    }
    let ran = asked("[1,2,3]", "SELECT * FROM t");
    assert!(ran.stderr.contains("error[CDL-1046]"), "{ran}");
}

#[test]
fn a_first_line_that_does_not_end_is_an_error_at_once() {
    let started = Instant::now();
    let place = Place::new();
    let long = "x".repeat(17 << 20) + "\n1\n";
    fs::write(place.path("t.csv"), &long).unwrap();
    let from_file = place.query("SELECT * FROM t", &["-t", "t=t.csv"]);
    // As a pipe is read, but that nobody is left writing into it.
    let mut command = place.command(&["query", "-t", "t=-", "-c", "SELECT * FROM t"]);
    let from_pipe =
        command.stdin(File::open(place.path("t.csv")).unwrap()).output().unwrap().into();
    let rans: [Ran; 2] = [from_file, from_pipe];
    for ran in rans {
        assert!(ran.code == Some(2) && ran.stderr.contains("error[CDL-1007]"), "{ran}");
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn many_columns_take_no_time_and_too_many_are_refused() {
    let wide = |columns: usize, name: &dyn Fn(usize) -> String| {
        let names: Vec<String> = (0..columns).map(name).collect();
        let row = (0..columns).map(|n| n.to_string()).collect::<Vec<_>>().join(",") + "\n";
        format!("{}\n{}", names.join(","), row.repeat(3))
    };
    let started = Instant::now();
    for name in [&(|n| format!("c{n}")) as &dyn Fn(usize) -> String, &|_| "same".to_string()] {
        let ran = asked(wide(10_000, name), "SELECT count(*) AS n FROM t");
        assert_eq!(ran.answer(), "n\n3\n");
    }
    let ran = asked(wide(100_000, &|n| format!("c{n}")), "SELECT count(*) FROM t");
    assert!(ran.code == Some(2) && ran.stderr.contains("error[CDL-1047]"), "{ran}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn what_excel_writes_first_is_no_header() {
    let ran = asked("sep=;\r\na;b\r\n1;2\r\n", "SELECT a + b AS sum FROM t");
    assert_snapshot!(ran, @"
    exit 0
    --- stdout
    sum
    3
    ");
}

#[test]
fn times_with_zones_are_read_in_utc() {
    let content = "at\n2024-01-31T10:20:30Z\n2024-01-31T10:20:30.5+02:00\n";
    let place = Place::with("t.csv", content);
    let sql = "SELECT min(at) AS at FROM t";
    let ran = place.query(sql, &["-t", "t=t.csv"]);
    assert!(ran.stderr.contains("at is taken for text; {timestamp='%FT%T%z'}"), "{ran}");
    let ran = place.query(sql, &["-t", "t=t.csv{timestamp='%FT%T%z'}"]);
    assert_eq!(ran.answer(), "at\n2024-01-31 08:20:30.500\n");
}

#[test]
fn mistakes_in_options_are_told_in_their_words() {
    let place = Place::with("t.csv", "a\n1\n");
    for (options, told) in [
        ("{null=NA}", "null=NA: texts stand in quotes: null=\"NA\""),
        ("{header=no}", "header=no: it is true or false, without quotes"),
        ("{types={a=\"money\"}}", "unknown type `money`: it is one of int, float, "),
        ("{date=\"dd/mm/yyyy\"}", "is `%d/%m/%Y` meant?"),
        ("{delimiter=\";\"", "the brace is not closed"),
    ] {
        let ran = place.query("SELECT * FROM t", &["-t", &format!("t=t.csv{options}")]);
        assert!(ran.code == Some(2) && ran.stderr.contains(told), "{options}: {ran}");
    }
    let ran = place.query("SELECT a FROM t", &["-t", "t=t.csv {types={a=\"varchar\"}}"]);
    assert_eq!(ran.answer(), "a\n1\n");
}

#[test]
fn files_of_a_table_that_are_unlike_each_other_are_told() {
    let place = Place::with("d/README.md", "# About\n\nText.\n").and("d/a.csv", "id,v\n1,2\n");
    let ran = place.query("SELECT * FROM t", &["-t", "t=d"]);
    let told = "warning: d/README.md: is the table's first file, and says which columns there are";
    assert!(ran.stderr.contains(told), "{ran}");
    let place = Place::with("a.csv", "id,v\n1,2\n").and("b.csv", "id;v\n3;4\n");
    let ran = place.query("SELECT v FROM t", &["-t", "t=*.csv"]);
    assert!(ran.stderr.contains("hint: do its fields end with \";\"?"), "{ran}");
    let place = Place::with("a.csv", "id\n1\n").and("a.csv.gz", "id\n1\n");
    let ran = place.query("SELECT id FROM t", &["-t", "t=a.*"]);
    assert!(ran.stderr.contains("a.csv.gz: a.csv is in the table as well"), "{ran}");
}
