//! SQL that cannot be answered: what is wrong, where, and what was probably meant.

use insta::assert_snapshot;

use crate::place::{Place, Ran};
use crate::shop;

fn ask(sql: &str) -> Ran {
    let place = Place::with("games.csv", "id,name,price\n1,Rust,39.99\n");
    place.query(sql, &["-t", "games=games.csv"])
}

#[test]
fn a_word_that_starts_no_statement() {
    assert_snapshot!(ask("SELEC * FROM games"), @"
    exit 1
    --- stderr
    error[CDL-2001]: query: expected an SQL statement, found SELEC
     --> line 1, column 1
      |
    1 | SELEC * FROM games
      | ^
    hint: did you mean SELECT?
    ");
}

#[test]
fn the_place_in_a_text_of_several_lines() {
    assert_snapshot!(ask("SELECT id\nFROM games\n\tWHERE id = = 3"), @"
    exit 1
    --- stderr
    error[CDL-2001]: query: expected an expression, found =
     --> line 3, column 13
      |
    3 | 	WHERE id = = 3
      | 	           ^
    ");
}

#[test]
fn a_text_that_ends_too_soon() {
    assert_snapshot!(ask("SELECT id FROM games WHERE ("), @"
    exit 1
    --- stderr
    error[CDL-2001]: query: this ( is never closed
     --> line 1, column 28
      |
    1 | SELECT id FROM games WHERE (
      |                            ^
    hint: write the missing )
    ");
}

#[test]
fn a_quote_that_is_never_closed() {
    assert_snapshot!(ask("SELECT id FROM games WHERE name = 'Rust"), @"
    exit 1
    --- stderr
    error[CDL-2001]: query: the text that begins here is never closed
     --> line 1, column 35
      |
    1 | SELECT id FROM games WHERE name = 'Rust
      |                                   ^
    hint: a text ends with '; a ' within it is written twice: 'it''s'
    ");
}

#[test]
fn nothing_at_all() {
    assert_snapshot!(ask(""), @"
    exit 1
    --- stderr
    error[CDL-2001]: query: there is no SQL
    ");
}

#[test]
fn an_unknown_column_with_a_near_name() {
    assert_snapshot!(ask("SELECT id\nFROM games\nWHERE prices > 3"), @r#"
    exit 1
    --- stderr
    error[CDL-2003]: query: there is no column "prices"
     --> line 3, column 7
      |
    3 | WHERE prices > 3
      |       ^
    hint: did you mean "price"?
    "#);
}

#[test]
fn an_unknown_column_of_a_table() {
    assert_snapshot!(ask("SELECT g.nam FROM games AS g"), @r#"
    exit 1
    --- stderr
    error[CDL-2003]: query: there is no column "g.nam"
     --> line 1, column 8
      |
    1 | SELECT g.nam FROM games AS g
      |        ^
    hint: did you mean "name"?
    "#);
}

#[test]
fn an_unknown_column_with_no_near_name() {
    assert_snapshot!(ask("SELECT publisher FROM games"), @r#"
    exit 1
    --- stderr
    error[CDL-2003]: query: there is no column "publisher"
     --> line 1, column 8
      |
    1 | SELECT publisher FROM games
      |        ^
    hint: the columns here are id, name, price
    "#);
}

#[test]
fn an_unknown_table_with_a_near_name() {
    assert_snapshot!(ask("SELECT * FROM gmes"), @r#"
    exit 1
    --- stderr
    error[CDL-2002]: query: there is no table "gmes"
     --> line 1, column 15
      |
    1 | SELECT * FROM gmes
      |               ^
    hint: did you mean "games"?
    "#);
}

#[test]
fn an_unknown_table_with_no_near_name() {
    assert_snapshot!(ask("SELECT * FROM publishers"), @r#"
    exit 1
    --- stderr
    error[CDL-2002]: query: there is no table "publishers"
     --> line 1, column 15
      |
    1 | SELECT * FROM publishers
      |               ^
    hint: the tables are games
    "#);
}

#[test]
fn a_table_where_none_was_named() {
    assert_snapshot!(Place::new().query("SELECT * FROM games", &[]), @r#"
    exit 1
    --- stderr
    error[CDL-2002]: query: there is no table "games"
     --> line 1, column 15
      |
    1 | SELECT * FROM games
      |               ^
    hint: name your files with -t table=file.csv
    "#);
}

#[test]
fn an_unknown_function() {
    assert_snapshot!(ask("SELECT id, uper(name) FROM games"), @r#"
    exit 1
    --- stderr
    error[CDL-2004]: query: there is no function "uper"
     --> line 1, column 12
      |
    1 | SELECT id, uper(name) FROM games
      |            ^
    hint: did you mean "upper"?
    "#);
}

#[test]
fn a_function_on_the_wrong_type() {
    let ran = ask("SELECT id + name FROM games");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error[CDL-2008]: "), "{ran}");
    assert!(ran.stderr.contains("1 | SELECT id + name FROM games\n  |        ^\n"), "{ran}");
}

#[test]
fn a_column_that_is_neither_grouped_nor_aggregated() {
    let ran = ask("SELECT id, count(*) FROM games");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error[CDL-2008]: "), "{ran}");
}

#[test]
fn anything_but_a_select() {
    assert_snapshot!(ask("CREATE TABLE a (x INT)"), @"
    exit 1
    --- stderr
    error[CDL-2005]: query: only a SELECT can be answered, not CREATE
    hint: tables come from files (-t name=file.csv); queries only read them
    ");
    let statements = [
        ("CREATE", "CREATE VIEW v AS SELECT 1"),
        ("INSERT", "INSERT INTO games VALUES (1, 'x', 2)"),
        ("UPDATE", "UPDATE games SET id = 1"),
        ("DELETE", "DELETE FROM games"),
        ("DROP", "DROP TABLE games"),
        ("EXPLAIN", "EXPLAIN SELECT 1"),
        ("COPY", "COPY games TO 'x.csv'"),
        ("SET", "SET x = 1"),
        ("SHOW", "SHOW TABLES"),
    ];
    for (word, sql) in statements {
        let ran = ask(sql);
        assert_eq!(ran.code, Some(1), "{ran}");
        let first = ran.stderr.lines().next().unwrap();
        let told = format!("only a SELECT can be answered, not {word}");
        assert!(first.starts_with("error[CDL-2005]: ") && first.ends_with(&told), "{ran}");
    }
}

#[test]
fn several_statements() {
    assert_snapshot!(ask("SELECT 1; SELECT 2"), @"
    exit 1
    --- stderr
    error[CDL-2001]: query: there is more than one statement
     --> line 1, column 11
      |
    1 | SELECT 1; SELECT 2
      |           ^
    hint: ask one SELECT at a time
    ");
    assert_eq!(ask("SELECT 1 AS one;").answer(), "one\n1\n");
}

#[test]
fn a_value_of_chance() {
    assert_snapshot!(ask("SELECT random() FROM games"), @"
    exit 1
    --- stderr
    error[CDL-2006]: query: random() gives another value each time it is called
    hint: an answer that is the same after a crash cannot depend on chance; use a column
    ");
    for sql in ["SELECT uuid()", "SELECT id FROM games WHERE price > random()"] {
        assert!(ask(sql).stderr.starts_with("error[CDL-2006]: "), "{sql}");
    }
    assert_eq!(ask("SELECT now() = now() AS same").answer(), "same\ntrue\n");
}

#[test]
fn a_parameter_without_a_value() {
    assert_snapshot!(ask("SELECT * FROM games WHERE id > $least"), @"
    exit 1
    --- stderr
    error[CDL-2007]: query: the parameter $least has no value
    hint: give it one: --param least=VALUE
    ");
}

#[test]
fn a_parameter_of_the_wrong_type() {
    let place = Place::with("t.csv", "id\n1\n");
    let ran = place.query("SELECT id FROM t WHERE id > $n", &["-t", "t=t.csv", "-p", "n=abc"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran}");
    assert!(ran.stderr.starts_with("error[CDL-2008]: "), "{ran}");
    assert!(ran.stderr.contains("cannot cast string 'abc' to value of BIGINT type"), "{ran}");
}

#[test]
fn a_query_of_a_suite_is_named() {
    let queries = [("good", "SELECT 1 AS one"), ("bad", "SELECT id\nFROM sale")];
    assert_snapshot!(shop::run(&shop::with_queries(&queries), &[]), @r#"
    exit 1
    --- stdout
    # good: About good
    one
    1

    --- stderr
    error[CDL-2002]: bad: there is no table "sale"
     --> line 2, column 6
      |
    2 | FROM sale
      |      ^
    hint: did you mean "sales"?
    "#);
}

#[test]
fn a_broken_query_that_was_not_asked_for_is_no_obstacle() {
    let place = shop::with_queries(&[("good", "SELECT 1 AS one"), ("bad", "SELECT")]);
    assert_eq!(shop::run(&place, &["--queries", "good"]).answer(), "one\n1\n");
}
