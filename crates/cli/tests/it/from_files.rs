//! Files that are named where they are asked about: `FROM 'games.csv'`, `caudal query games.csv`, `caudal schema`.

use insta::assert_snapshot;

use crate::place::Place;

fn place() -> Place {
    Place::with("games.csv", "id,name\n1,Chess\n2,Go\n")
        .and("r/1.csv", "id;stars\n1;5\n")
        .and("r/2.csv", "id;stars\n2;3\n2;4\n")
}

#[test]
fn a_file_in_quotes_is_a_table() {
    let place = place();
    let sql = "SELECT name, count(*) AS n FROM 'games.csv' g JOIN 'r/*.csv{delimiter=\";\"}' r \
               ON r.id = g.id GROUP BY name ORDER BY n";
    assert_eq!(place.query(sql, &[]).answer(), "name,n\nChess,1\nGo,2\n");
    let nested = "WITH g AS (SELECT * FROM 'games.csv') SELECT (SELECT max(id) FROM 'games.csv') AS m FROM g";
    assert_eq!(place.query(nested, &[]).answer(), "m\n2\n2\n");
    // A table of that name is that table.
    let named =
        place.query("SELECT * FROM 'games.csv'", &["-t", "games.csv=r/1.csv{delimiter=';'}"]);
    assert_eq!(named.answer(), "id,stars\n1,5\n");
    let missing = place.query("SELECT * FROM 'chess.csv'", &[]);
    assert!(missing.code == Some(2) && missing.stderr.starts_with("error[CDL-1001]"), "{missing}");
    // Elsewhere a text is a text.
    let text = "SELECT 'games.csv' AS f, extract(year FROM DATE '2024-01-31') AS y";
    assert_eq!(place.query(text, &[]).answer(), "f,y\ngames.csv,2024\n");
}

#[test]
fn a_file_alone_is_the_table_t() {
    let place = place();
    let all = place.caudal(&["query", "games.csv"]);
    assert_eq!(all.answer(), "id,name\n1,Chess\n2,Go\n");
    let some =
        place.caudal(&["query", "r/*.csv{delimiter=';'}", "-c", "SELECT sum(stars) AS s FROM t"]);
    assert_eq!(some.answer(), "s\n12\n");
    assert_eq!(place.caudal(&["query"]).code, Some(2));
    assert_eq!(place.caudal(&["query", "games.csv", "-t", "t=games.csv"]).code, Some(2));
    let sql = place.caudal(&["query", "SELECT 1"]);
    assert!(sql.code == Some(2) && sql.stderr.contains("hint: SQL goes after -c"), "{sql}");
}

#[test]
fn a_schema_says_what_a_file_is_taken_for() {
    let place = place();
    assert_snapshot!(place.caudal(&["schema", "r/*.csv", "--format", "table"]), @r#"
    exit 0
    --- stdout
    r/*.csv: 3 rows, {delimiter=";"}
    ╭────────┬──────┬─────────╮
    │ column ┆ type ┆ samples │
    ╞════════╪══════╪═════════╡
    │ id     ┆ int  ┆ 1       │
    │ stars  ┆ int  ┆ 5       │
    ╰────────┴──────┴─────────╯
    --- stderr
    note: r/1.csv: guessed that fields end with ";" ({delimiter=";"} says it)
    "#);
    assert_snapshot!(place.caudal(&["schema", "games.csv{types={id='text'}}", "--format", "json"]).answer(),
        @r#"[{"column":"id","type":"text","samples":"1, 2","rows":2,"rejected":0,"dialect":"{delimiter=\",\"}","files":"games.csv"},{"column":"name","type":"text","samples":"Chess, Go","rows":2,"rejected":0,"dialect":"{delimiter=\",\"}","files":"games.csv"}]"#);
    for format in ["csv", "ndjson", "markdown"] {
        let ran = place.caudal(&["schema", "games.csv", "--format", format]);
        assert!(ran.code == Some(0) && ran.stdout.contains("Chess, Go"), "{ran}");
    }
    let ragged = Place::with("t.csv", "a,b\n1,2\n3\n");
    let ran = ragged.caudal(&["schema", "t.csv", "--format", "table"]);
    assert!(ran.stdout.starts_with("t.csv: 1 row, 1 more do not fit, {"), "{ran}");
    assert_eq!(place.caudal(&["schema", "nothing.csv"]).code, Some(2));
}
