//! `caudal query`: any SELECT over any files. And a suite of a user's own.

use insta::assert_snapshot;

use crate::place::Place;
use crate::shop;

fn months() -> Place {
    Place::with("m_1.csv", "id,amount\n1,1.5\n2,2.5\n")
        .and("m_2.csv", "id,amount\n3,4.0\n")
        .and("m_10.csv", "id,amount\n4,\n")
        .and("names.csv", "id,name\n1,Ana\n3,Zoë\n")
}

#[test]
fn several_tables_are_joined() {
    let sql = "SELECT name, amount FROM m JOIN names USING (id) ORDER BY name";
    let answer = months().query(sql, &["-t", "m=m_*.csv", "-t", "names=names.csv"]).answer();
    assert_eq!(answer, "name,amount\nAna,1.5\nZoë,4.0\n");
}

#[test]
fn a_pattern_is_one_table_over_many_files() {
    let count = |pattern: &str| {
        let table = format!("m={pattern}");
        months().query("SELECT count(*) AS n, sum(id) AS ids FROM m", &["-t", &table]).answer()
    };
    assert_eq!(count("m_*.csv"), "n,ids\n4,10\n");
    assert_eq!(count("m_?.csv"), "n,ids\n3,6\n");
    assert_eq!(count("m_[12]*.csv"), "n,ids\n4,10\n");
    assert_eq!(count("**/m_2.csv"), "n,ids\n1,3\n");
}

#[test]
fn many_files_on_many_threads() {
    let mut place = Place::new();
    for month in 0..40 {
        let rows: String = (0..50).map(|n| format!("{},{month}\n", month * 50 + n)).collect();
        place = place.and(&format!("in/{month}.csv"), format!("n,month\n{rows}"));
    }
    let sql = "SELECT count(*) AS rows, sum(n) AS total, count(DISTINCT month) AS months FROM t";
    for (threads, shards) in [("1", "1"), ("4", "3"), ("2", "8")] {
        let options = ["-t", "t=in/*.csv", "--threads", threads, "--shards", shards];
        assert_eq!(place.query(sql, &options).answer(), "rows,total,months\n2000,1999000,40\n");
    }
}

#[test]
fn types_are_guessed_from_the_rows() {
    let rows = "int,float,bool,day,time,text,empty,id0\n\
        1,1.5,true,2024-01-31,2024-01-31 10:00:00,x,,007\n\
        -2,2,false,2023-12-01,2023-12-01T00:00:00,1,,010\n";
    let columns = ["int", "float", "bool", "day", "time", "text", "empty", "id0"];
    let types = columns.map(|name| format!("arrow_typeof({name}) AS {name}")).join(", ");
    let sql = format!("SELECT {types} FROM t LIMIT 1");
    let answer = Place::with("t.csv", rows).query(&sql, &["-t", "t=t.csv", "--format", "ndjson"]);
    assert_snapshot!(answer.answer().replace("\",", "\",\n"), @r#"
    {"int":"Int64",
    "float":"Float64",
    "bool":"Boolean",
    "day":"Date32",
    "time":"Timestamp(µs)",
    "text":"Utf8View",
    "empty":"Utf8View",
    "id0":"Utf8View"}
    "#);
}

#[test]
fn the_hidden_column_orders_rows_as_in_the_files() {
    let place = months();
    let sql = "SELECT id, amount FROM m ORDER BY _row";
    let answer = place.query(sql, &["-t", "m=m_*.csv"]).answer();
    assert_eq!(answer, "id,amount\n1,1.5\n2,2.5\n4,\n3,4.0\n");
    let all = place.query("SELECT * FROM m LIMIT 0", &["-t", "m=m_*.csv"]).answer();
    assert_eq!(all, "id,amount\n");
}

#[test]
fn parameters_take_the_type_they_look_like() {
    let sql = "SELECT arrow_typeof($a) AS a, arrow_typeof($b) AS b, arrow_typeof($c) AS c, $d AS d";
    let options = ["-p", "a=1", "-p", "b=1.5", "-p", "c=true", "-p", "d='12'"];
    let answer = Place::new().query(sql, &options).answer();
    assert_eq!(answer, "a,b,c,d\nInt64,Float64,Boolean,12\n");
}

#[test]
fn a_parameter_in_a_condition() {
    let options = ["-t", "m=m_*.csv", "--param", "least=2.5"];
    let answer = months().query("SELECT id FROM m WHERE amount >= $least ORDER BY id", &options);
    assert_eq!(answer.answer(), "id\n2\n3\n");
}

#[test]
fn sql_from_a_file_or_from_stdin() {
    let sql = "-- a comment first\nSELECT count(*) AS n\nFROM m;\n";
    let place = months().and("q.sql", sql);
    let options = ["-t", "m=m_*.csv"];
    let from_file = place.caudal(&[&["query", "-f", "q.sql"], &options[..]].concat());
    assert_eq!(from_file.answer(), "n\n4\n");
    let from_stdin = place.caudal_reading(sql, &[&["query", "-f", "-"], &options[..]].concat());
    assert_eq!(from_stdin.answer(), "n\n4\n");
    assert_eq!(place.query(sql, &options).answer(), "n\n4\n");
}

#[test]
fn names_with_odd_characters() {
    let place = Place::with("odd [1] name.csv", "review/score,Group By\n5,a\n");
    let sql = "SELECT \"review/score\", \"Group By\" FROM \"Odd table\"";
    let answer = place.query(sql, &["-t", "Odd table=odd [1] name.csv"]).answer();
    assert_eq!(answer, "review/score,Group By\n5,a\n");
}

#[test]
fn sql_without_tables() {
    let answer = Place::new().query("SELECT 40 + 2 AS answer, upper('ñ') AS n", &[]).answer();
    assert_eq!(answer, "answer,n\n42,Ñ\n");
}

#[test]
fn a_suite_of_ones_own() {
    let queries = [
        ("sold", "SELECT item FROM sales GROUP BY item HAVING count(*) >= $least ORDER BY item"),
        ("all", "SELECT id, item, price, at FROM sales ORDER BY id"),
    ];
    let place = shop::with_queries(&queries);
    assert_snapshot!(shop::run(&place, &[]).answer(), @"
    # sold: About sold
    item
    ink
    pen

    # all: About all
    id,item,price,at
    1,pen,1.10,2024-01-31 09:00:00
    2,ink,2.20,2024-02-01 10:30:00
    3,pen,1.10,2024-03-05 23:59:59
    ");
    let chosen = shop::run(&place, &["-q", "sold", "-p", "least=2"]).answer();
    assert_eq!(chosen, "item\npen\n");
}
