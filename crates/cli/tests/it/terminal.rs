//! Changes when a person watches: tables by default, colours unless unwanted.

use std::process::Command;

use crate::place::Place;

/// Runs the program on a terminal that `script` (util-linux) makes; both outputs are one there. The
/// width of the terminal is 0 where nobody sets it.
fn on_a_terminal(place: &Place, no_color: &str, width: u16, line: &str) -> Option<String> {
    let line = format!("stty cols {width}; '{}' {line}", env!("CARGO_BIN_EXE_caudal"));
    let mut command = Command::new("script");
    command
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .current_dir(place.path(""))
        .env("NO_COLOR", no_color)
        .env("TERM", "xterm");
    match command.output() {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")),
        Err(error) => {
            caudal_testing::skip("what a terminal shows", &format!("script(1): {error}"));
            None
        }
    }
}

#[test]
fn results_are_drawn_as_tables() {
    for width in [0, 80] {
        let shown = on_a_terminal(&Place::new(), "", width, "query -c 'SELECT 42 AS answer'");
        let Some(shown) = shown else { return };
        assert!(shown.contains("│ answer │\n") && shown.contains("│     42 │\n"), "{shown}");
    }
    let csv = on_a_terminal(&Place::new(), "", 80, "query -c 'SELECT 42 AS answer' --format csv");
    assert_eq!(csv.as_deref(), Some("answer\n42\n"));
}

#[test]
fn many_columns_are_drawn_one_below_the_other() {
    let columns: Vec<_> = (1..=9).map(|n| format!("{n} AS column_{n}")).collect();
    let line = format!("query -c 'SELECT {} FROM generate_series(1, 2)'", columns.join(", "));
    let Some(shown) = on_a_terminal(&Place::new(), "", 60, &line) else { return };
    assert_eq!(shown.matches("│ column_9 ┆ 9     │\n").count(), 2, "{shown}");
}

#[test]
fn errors_are_coloured_unless_unwanted() {
    let place = Place::new();
    let line = "query -c 'SELECT * FROM games'";
    let Some(coloured) = on_a_terminal(&place, "", 80, line) else { return };
    assert!(coloured.starts_with("\x1b[1;31merror[CDL-2002]\x1b[0m: "), "{coloured:?}");
    assert!(coloured.contains("\x1b[1mhint\x1b[0m: "), "{coloured:?}");
    let Some(plain) = on_a_terminal(&place, "1", 80, line) else { return };
    assert_eq!(plain, place.query("SELECT * FROM games", &[]).stderr);
}

#[test]
fn control_characters_of_files_are_shown_and_not_obeyed() {
    let rows = "id,\u{1b}[2Jname\n1,\u{1b}]0;owned\u{7}x\n2,\u{9b}31m\n3,\n\u{1b}[1mbad,4,5\n";
    let place = Place::with("t.csv", rows);
    for format in ["table", "csv", "markdown", "json", "ndjson"] {
        let line =
            format!("query --quiet --lenient -t t=t.csv -c 'SELECT * FROM t' --format {format}");
        let Some(shown) = on_a_terminal(&place, "1", 200, &line) else { return };
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{format}: {shown:?}");
        assert!(shown.contains("owned"), "{format}: {shown:?}");
        let strict = on_a_terminal(&place, "1", 200, &line.replace("lenient", "strict"));
        assert!(!strict.unwrap().contains('\u{1b}'));
    }
    // A pipe gets what is there.
    let piped = place.query("SELECT * FROM t", &["-t", "t=t.csv", "--lenient"]);
    assert!(piped.stdout.contains("\u{1b}]0;owned\u{7}x"));
}
