//! `caudal shell` without a terminal: scripts on standard input.

use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::place::{Place, Ran};
use crate::small_cluster::SmallCluster;

fn shop() -> Place {
    Place::with("games.csv", "id,name,Price\n1,Chess,1.5\n2,Go,2.5\n")
        .and("reviews_1.csv", "game,stars\n1,5\n2,3\n")
        .and("reviews_2.csv", "game,stars\n2,oops\n2,4\n")
}

fn shell(script: &str, args: &[&str]) -> Ran {
    shop().caudal_reading(script, &[&["shell"], args].concat())
}

#[test]
fn statements_are_answered_one_after_the_other() {
    let script = "SELECT name FROM games\n  WHERE id = 2;\n\n-- a comment;\nSELECT 'a;b' AS x; SELECT count(*) AS n\nFROM 'games.csv'";
    assert_eq!(shell(script, &["games.csv"]).answer(), "name\nGo\nx\na;b\nn\n2\n");
}

#[test]
fn tables_are_called_as_their_files() {
    let sql = "SELECT name, sum(stars) AS stars FROM games JOIN reviews ON game = id GROUP BY name ORDER BY 1;";
    let args = ["games.csv", "reviews_*.csv{types={stars=\"text\"}}", "--quiet"];
    let ran = shell(&sql.replace("sum", "max"), &args);
    assert_eq!(ran.answer(), "name,stars\nChess,5\nGo,oops\n");
    let twice = shell("", &["games.csv", "-t", "GAMES=games.csv"]);
    assert_snapshot!(twice, @"
    exit 2
    --- stderr
    error[CDL-6004]: two tables are called GAMES
    hint: -t NAME=FILES gives one another name
    ");
}

#[test]
fn what_fails_is_told_with_its_place_and_the_rest_is_answered() {
    let script = "SELECT 1 AS a;\nSELECT\n  nmae FROM games;\n.tabels\nSELECT 2 AS b;\nINSERT INTO games VALUES (1)";
    assert_snapshot!(shell(script, &["games.csv"]), @r#"
    exit 1
    --- stdout
    a
    1
    b
    2
    --- stderr
    error[CDL-2003]: query: there is no column "nmae"
     --> line 2, column 3
      |
    2 |   nmae FROM games
      |   ^
    hint: did you mean "name"?
      (line 2 of standard input)
    error[CDL-6050]: there is no command .tabels
    hint: did you mean .tables?
      (line 4 of standard input)
    error[CDL-2005]: query: only a SELECT can be answered, not INSERT
    hint: tables come from files (-t name=file.csv); queries only read them
      (line 6 of standard input)
    "#);
}

#[test]
fn commands() {
    let script = ".tables\n.schema games\n.schema 'reviews_1.csv'\n.mode json\n.table r=reviews_*.csv{types={stars=\"text\"}}\n\
        SELECT count(*) AS n FROM r;\n.param least=2\n.param\nSELECT name FROM games WHERE id >= $least;\n.mode\n.mode csv\n\
        .forget r\n.schema\n.forget $least\n.param\n.quit\nSELECT 1;\n";
    assert_snapshot!(shell(script, &["games.csv"]).answer(), @r#"
    table,files,columns
    games,games.csv,3
    column,type
    id,int
    name,text
    Price,float
    column,type
    game,int
    stars,int
    [{"n":4}]
    [{"parameter":"least","value":"2"}]
    [{"name":"Go"}]
    json
    table,column,type
    games,id,int
    games,name,text
    games,Price,float
    parameter,value
    "#);
}

#[test]
fn commands_that_are_wrong() {
    let script = ".mode tabel\n.mode parquet\n.timer maybe\n.table games\n.table t=none.csv\n.schema gmaes\n.forget x\n.read none.sql\n\
        .explain\n.param x\n.table p=-\nSELECT * FROM '-';\n.help me\n";
    assert_snapshot!(shell(script, &["games.csv"]), @r#"
    exit 1
    --- stderr
    error[CDL-6051]: .mode: there is no mode "tabel"
    hint: it is one of table, csv, json, ndjson, markdown
      (line 1 of standard input)
    error[CDL-6051]: .mode: there is no mode "parquet"
    hint: it is one of table, csv, json, ndjson, markdown
      (line 2 of standard input)
    error[CDL-6051]: .timer: "maybe" is neither on nor off
      (line 3 of standard input)
    error[CDL-6002]: .table games: expected NAME=FILES
      (line 4 of standard input)
    error[CDL-1001]: no such file: none.csv
    hint: check the path, or the glob it came from
      (line 5 of standard input)
    error[CDL-2002]: there is no table "gmaes"
    hint: did you mean "games"?
      (line 6 of standard input)
    error[CDL-6051]: .forget: there is no table or parameter "x"
      (line 7 of standard input)
    error[CDL-6008]: cannot read none.sql: No such file or directory (os error 2)
      (line 8 of standard input)
    error[CDL-6051]: .explain: nothing was asked before
      (line 9 of standard input)
    error[CDL-6002]: .param x: expected NAME=VALUE
      (line 10 of standard input)
    error[CDL-1042]: - cannot be asked more than once: it is not a file
    hint: save it as a file; caudal query reads what comes once
      (line 11 of standard input)
    error[CDL-1042]: - cannot be asked more than once: it is not a file
    hint: save it as a file; caudal query reads what comes once
      (line 12 of standard input)
    error[CDL-6051]: .help: it takes nothing, and was given "me"
      (line 13 of standard input)
    "#);
}

#[test]
fn stages_are_shown() {
    let script =
        ".explain SELECT count(*) FROM games;\nSELECT max(id) AS id FROM games;\n.explain\n";
    let answer = shell(script, &["games.csv"]).answer();
    assert_eq!(answer.matches("table games").count(), 2, "{answer}");
}

#[test]
fn scripts_read_scripts() {
    let place = shop()
        .and("a.sql", "SELECT 1 AS a;\n.read 'b c.sql'\nSELECT oops;\n")
        .and("b c.sql", "SELECT 2 AS b")
        .and("own.sql", ".read own.sql\n");
    let ran = place.caudal_reading(".read a.sql\nSELECT 3 AS c;\n.read own.sql\n", &["shell"]);
    assert_snapshot!(ran, @r#"
    exit 1
    --- stdout
    a
    1
    b
    2
    c
    3
    --- stderr
    error[CDL-2003]: query: there is no column "oops"
     --> line 1, column 8
      |
    1 | SELECT oops
      |        ^
    hint: there are no columns here: is a FROM missing?
      (line 3 of a.sql)
    error[CDL-6051]: .read: 16 scripts read one another
      (line 1 of own.sql)
    "#);
}

#[test]
fn files_that_change_are_read_as_they_are() {
    let place = Place::with("t_1.csv", "x\n1\n");
    let mut command = place.command(&["shell", "-t", "t=t_*.csv"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "SELECT count(*) AS n FROM t;").unwrap();
    let mut answer = [0; 4];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut answer).unwrap();
    assert_eq!(&answer, b"n\n1\n");
    let place = place.and("t_2.csv", "x\ntwo\n");
    writeln!(stdin, "SELECT max(x) AS x FROM t;").unwrap();
    drop(stdin);
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.stdout, "x\ntwo\n");
    drop(place);
}

#[test]
fn answers_come_from_a_cluster_and_from_here_again() {
    let cluster = SmallCluster::start();
    let script = format!(
        ".open {}\nSELECT count(*) AS n FROM games;\n.open\nSELECT max(id) AS m FROM games;\n",
        cluster.gateways
    );
    assert_eq!(shell(&script, &["games.csv"]).answer(), "n\n2\nm\n2\n");
    // Which no cluster takes.
    let ran = shell(&script, &["games.csv", "--memory", "1G"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "m\n2\n"), "{ran}");
    let ran = shell("SELECT 1 AS a;", &["--gateway", &cluster.gateways]);
    assert_eq!(ran.answer(), "a\n1\n");
}

#[test]
fn a_parameter_may_wait_for_its_statement() {
    let script = "SELECT 1 AS a;\nSELECT $x + 1 AS b;\n";
    assert_eq!(shell(script, &["-p", "x=41"]).answer(), "a\n1\nb\n42\n");
}

#[test]
fn rows_that_do_not_fit_are_told_of_each_statement() {
    let ran = shell(
        "SELECT sum(stars) AS n FROM r;\n",
        &["-t", "r=reviews_*.csv{types={stars=\"int\"}}", "--lenient"],
    );
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.starts_with("warning: 1 row of r did not fit and was left out\n"), "{ran}");
}

#[test]
fn a_line_that_does_not_end_is_refused() {
    let place = Place::with("long.sql", format!("SELECT '{}';\nSELECT 1;\n", "x".repeat(2 << 20)));
    let ran = place.caudal_reading(".read long.sql\nSELECT 2 AS b;\n", &["shell"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "b\n2\n"));
    assert!(ran.stderr.starts_with("error[CDL-2010]: a statement of more than"), "{ran}");
}

#[test]
fn whoever_reads_the_answers_may_stop() {
    let place = shop();
    let rows = "SELECT * FROM generate_series(1, 100000);\n".repeat(50);
    let mut command = place.command(&["shell"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    // It may end before it has read all.
    let _ = stdin.write_all(rows.as_bytes());
    drop(stdin);
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
