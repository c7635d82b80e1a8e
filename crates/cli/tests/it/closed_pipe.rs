//! `caudal ... | head`: whoever reads has read enough, and that is no error.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::place::Place;
use crate::shop;

/// Reads one line of what the program prints, then closes the pipe.
#[track_caller]
fn read_one_line(place: &Place, args: &[&str]) -> String {
    let mut command = place.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert_eq!(ended.status.code(), Some(0));
    line
}

/// More than a pipe holds.
fn many_rows() -> Place {
    let rows: String = (0..60_000).map(|n| format!("{n},some text to fill the pipe\n")).collect();
    Place::with("t.csv", format!("n,s\n{rows}"))
}

#[test]
fn of_a_query_in_every_format() {
    let place = many_rows();
    let first_lines = [
        ("csv", "n,s\n"),
        ("ndjson", "{\"n\":"),
        ("json", "[{\"n\":"),
        ("markdown", "| n | s |\n"),
    ];
    for (format, first) in first_lines {
        let args = ["query", "-c", "SELECT * FROM t", "-t", "t=t.csv", "--format", format];
        let line = read_one_line(&place, &args);
        assert!(line.starts_with(first), "{format}: {}", &line[..line.len().min(80)]);
    }
}

#[test]
fn of_a_suite() {
    let sql = "SELECT a.* FROM sales AS a, generate_series(1, 30000) ORDER BY id";
    let place = shop::with_queries(&[("one", sql), ("two", sql)]);
    let line = read_one_line(&place, &["run", "suite", "--data", "data"]);
    assert_eq!(line, "# one: About one\n");
}

#[test]
fn of_the_other_commands() {
    let same = Place::with("a/q1.csv", "n\n1\n").and("b/q1.csv", "n\n1\n");
    assert_eq!(read_one_line(&same, &["check", "a", "--against", "b"]), "q1: same, 1 row\n");
    let line = read_one_line(&same, &["explain", "steam", "--format", "dot"]);
    assert_eq!(line, "digraph caudal {\n");
    let line = read_one_line(&same, &["demo", "coffee", "--scale", "0.0002"]);
    assert!(line.starts_with("coffee: "), "{line}");
}
