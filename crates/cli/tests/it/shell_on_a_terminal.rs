//! `caudal shell` as people meet it: keys are pressed, the screen is read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use caudal_testing::wait_until;

use crate::interrupt::cpu_ticks;
use crate::place::Place;
use crate::tmux::Terminal;

/// Time that "at once" may take, on a busy machine too.
const FREE_MAX: Duration = Duration::from_secs(5);

const PROMPT: &str = "caudal>";

fn shop() -> Place {
    Place::with("games.csv", "id,name,Price\n1,Chess,1.5\n2,Go,2.5\n")
}

fn shell(place: &Place, line: &str) -> Option<Terminal> {
    let terminal = Terminal::open(place, (100, 40), line)?;
    terminal.ends_with(PROMPT);
    Some(terminal)
}

#[test]
fn names_are_completed_and_statements_go_over_lines() {
    let place = shop();
    let Some(terminal) = shell(&place, "caudal shell games.csv") else { return };
    terminal.shows("games: 3 columns");
    terminal.types("SELECT nam").presses("Tab").ends_with("SELECT name");
    terminal.types(" FROM ga").presses("Tab").ends_with("FROM games");
    terminal.presses("Enter").types("WHERE Pri").presses("Tab").ends_with("WHERE Price");
    terminal.types(" > 2;").presses("Enter");
    terminal.shows("│ name │").shows("│ Go   │").ends_with(PROMPT);
    terminal.types("SELECT count(*) FROM 'ga").presses("Tab").ends_with("FROM 'games.csv");
    terminal.types("';").presses("Enter").shows("│        2 │").ends_with(PROMPT);
    terminal.types(".mo").presses("Tab").types("ma").presses("Tab").ends_with(".mode markdown");
    terminal.presses("Enter").types("SELECT 7 AS seven;").presses("Enter").shows("| 7 |");
    terminal.ends_with(PROMPT).presses("C-d").shows("[exit 0]");
}

#[test]
fn what_was_asked_before_is_kept_for_the_next_shell() {
    let place = shop();
    let Some(terminal) = shell(&place, "caudal shell") else { return };
    terminal.types("SELECT 40").presses("Enter").types("+ 2 AS x;").presses("Enter");
    terminal.shows("│ 42 │").ends_with(PROMPT);
    terminal.presses("Up").ends_with("+ 2 AS x;").presses("Enter");
    terminal.waits_for("the same again", |screen| screen.matches("│ 42 │").count() == 2);
    terminal.ends_with(PROMPT).types("SELECT 'not me' AS y").shows("'not me' AS y").presses("C-c");
    // What was begun is gone, and not run.
    terminal.ends_with(PROMPT).types("SELECT 1 AS y;").presses("Enter").shows("│ 1 │");
    drop(terminal);
    let kept = place.path("state/caudal/history");
    assert_eq!(place.read("state/caudal/history"), "#V2\nSELECT 40\\n+ 2 AS x;\nSELECT 1 AS y;\n");
    assert_eq!(fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
    let Some(terminal) = shell(&place, "caudal shell") else { return };
    terminal.presses("Up").ends_with("SELECT 1 AS y;").presses("Up").ends_with("+ 2 AS x;");
}

/// Three tables whose cross join takes hours.
#[test]
fn a_long_query_is_interrupted_and_the_shell_goes_on() {
    let numbers: String = (0..5000).map(|n| format!("{n}\n")).collect();
    let place = Place::with("n.csv", format!("x\n{numbers}"));
    let Some(terminal) = shell(&place, "caudal shell n.csv") else { return };
    let sql = "SELECT count(*) FROM n a, n b, n c WHERE a.x * b.x + c.x = -1;";
    for times in 1..=2 {
        terminal.types(sql).presses("Enter").shows("queries answered: 0 of 1");
        let pressed = Instant::now();
        terminal.presses("C-c");
        let is_over = |screen: &str| screen.matches("interrupted").count() == times;
        terminal.waits_for("it has ended", is_over).ends_with(PROMPT);
        assert!(pressed.elapsed() < FREE_MAX, "it took {:?}", pressed.elapsed());
        let left = terminal.screen();
        assert!(!left.contains("queries answered") && !left.contains('█'), "{left}");
    }
    terminal.types("SELECT max(x) AS m FROM n;").presses("Enter").shows("│ 4999 │");
    // Without a query it clears the line, and nothing else.
    let prompts = |count: usize| {
        let is_there =
            |screen: &str| screen.ends_with(PROMPT) && screen.matches(PROMPT).count() == count;
        terminal.waits_for("another prompt", is_there)
    };
    prompts(4).presses("C-c");
    prompts(5).types("SELECT nothing").shows("nothing").presses("C-c");
    prompts(6).types("exit").presses("Enter").shows("[exit 0]");
}

/// A hash join of one key, whose filter takes nothing: minutes without an await point.
#[test]
fn what_was_interrupted_computes_no_more() {
    let rows: String = (0..100_000).map(|n| format!("1,{n}\n")).collect();
    let place = Place::with("n.csv", format!("k,x\n{rows}"));
    let Some(terminal) = shell(&place, "caudal shell n.csv") else { return };
    let sql = "SELECT count(*) FROM n a JOIN n b ON a.k = b.k AND a.x * b.x = -1;";
    terminal.types(sql).presses("Enter").shows("queries answered: 0 of 1");
    let pid = terminal.program().unwrap();
    let ticks_in = |time: Duration| {
        let before = cpu_ticks(pid);
        thread::sleep(time);
        cpu_ticks(pid) - before
    };
    wait_until("it computes", || ticks_in(Duration::from_millis(200)) > 5);
    terminal.presses("C-c").shows("interrupted").ends_with(PROMPT);
    let pressed = Instant::now();
    wait_until("it computes no more", || ticks_in(Duration::from_millis(200)) == 0);
    assert!(pressed.elapsed() < FREE_MAX, "it took {:?}", pressed.elapsed());
}

#[test]
fn answers_are_as_wide_as_the_terminal_is_now() {
    let place = Place::new();
    let Some(terminal) = shell(&place, "caudal shell") else { return };
    let columns: Vec<_> = (1..=9).map(|n| format!("{n} AS c{n}")).collect();
    let sql = format!("SELECT {};", columns.join(", "));
    terminal.types(&sql).presses("Enter").shows("│  1 ┆  2 ┆").ends_with(PROMPT);
    // In the middle of a line that goes over several then.
    terminal.types(&sql[..60]).resize(50, 40).types(&sql[60..]).presses("Enter");
    terminal.shows("│ c9     ┆ 9     │").ends_with(PROMPT);
}

/// Also where a terminal does not say that it is a paste.
#[test]
fn what_is_typed_ahead_is_not_lost() {
    let place = Place::new();
    let Some(terminal) = shell(&place, "caudal shell") else { return };
    terminal.types("SELECT 1 AS aa;\rSELECT\r2 AS bb;\r.mode markdown\rSELECT 3 AS cc;\r");
    terminal.shows("│ aa │").shows("│ bb │").shows("| cc |").ends_with(PROMPT);
}

#[test]
fn errors_are_told_and_the_shell_goes_on() {
    let place = shop();
    let Some(terminal) = shell(&place, "caudal shell games.csv") else { return };
    terminal.types("SELECT nmae FROM games;").presses("Enter");
    terminal.shows("error[CDL-2003]: query: there is no column \"nmae\"").ends_with(PROMPT);
    terminal.shows("hint: did you mean \"name\"?");
    terminal.types(".tabels").presses("Enter").shows("did you mean .tables?").ends_with(PROMPT);
    terminal.types("SELECT name FROM games LIMIT 1;").presses("Enter").shows("│ Chess │");
}

#[test]
fn long_answers_are_bounded() {
    let place = Place::new();
    let Some(terminal) = shell(&place, "caudal shell") else { return };
    terminal.types("SELECT * FROM generate_series(1, 100000);").presses("Enter");
    terminal.shows("… 99900 more rows (").shows(".mode csv)").ends_with(PROMPT);
}

#[test]
fn it_is_what_a_terminal_gets_without_a_command() {
    let place = Place::new();
    let Some(terminal) = shell(&place, "caudal") else { return };
    terminal.types("select 'x' as x;").shows("select 'x' as x;");
    assert!(terminal.colors().contains("\u{1b}[34mselect"), "{:?}", terminal.colors());
    terminal.presses("Enter").shows("│ x │").ends_with(PROMPT);
    terminal.presses("C-d").shows("[exit 0]");
    let Some(plain) = shell(&place, "NO_COLOR=1 caudal") else { return };
    plain.types("select 'x' as x;").shows("select 'x' as x;");
    assert!(!plain.colors().contains("[34m"), "{:?}", plain.colors());
}

#[test]
fn answers_may_go_elsewhere() {
    let place = Place::new();
    let Some(terminal) = shell(&place, "caudal shell > out.csv") else { return };
    terminal.types("SELECT 1 AS a;").presses("Enter").ends_with(PROMPT);
    caudal_testing::wait_until("it is written", || place.read("out.csv") == "a\n1\n");
}

#[test]
fn what_ends_it_leaves_the_terminal_as_it_was() {
    let place = Place::new();
    let Some(terminal) = shell(&place, "caudal shell") else { return };
    let program = terminal.program().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &program]).status().unwrap().success());
    terminal.shows("[exit 130]").shows("icanon").shows(" echo ");
}
