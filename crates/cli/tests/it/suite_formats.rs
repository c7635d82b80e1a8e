//! Suites over tables of whatever format.

use insta::assert_snapshot;

use crate::place::{Place, Ran};
use crate::shop;

const SQL: &str = "SELECT item, count(*) AS n, sum(price) AS sum, max(at) AS last FROM sales GROUP BY item ORDER BY item";
const EXPECTED: &str =
    "item,n,sum,last\nink,1,2.20,2024-02-01 10:30:00\npen,2,2.20,2024-03-05 23:59:59\n";

/// The columns of the files have the types that the suite says, or narrower ones.
const WRITTEN: &str = "
    SELECT arrow_cast(id, 'Int32') AS id, \"Item\", CAST(price AS DECIMAL(6, 2)) AS price, at
    FROM 'data/sales_*.csv'";

/// The shop, with its sales in one file instead.
fn with_sales(name: &str) -> Place {
    let place = shop::with_queries(&[("items", SQL)]);
    let manifest = place.read("suite/suite.toml").replace("sales_*.csv", name);
    let written = place.query(WRITTEN, &["--out", &format!("data/{name}"), "--quiet"]);
    assert_eq!(written.code, Some(0), "{written}");
    place.and("suite/suite.toml", manifest)
}

fn run(place: &Place, options: &[&str]) -> Ran {
    shop::run(place, options)
}

#[test]
fn answers_are_the_same_and_checked() {
    for name in ["s.parquet", "s.arrow", "s.arrows", "s.ndjson", "s.json.gz", "s.csv.zst"] {
        let place = with_sales(name);
        assert_eq!(run(&place, &[]).answer(), EXPECTED, "{name}");
        assert_eq!(run(&place, &["--out", "results", "--quiet"]).answer(), "");
        let checked =
            place.caudal(&["check", "results", "--suite", "suite", "--data", "data"]).answer();
        assert!(checked.contains("items"), "{checked}");
    }
}

/// The same without columns in the suite.
fn with_undeclared_sales(name: &str) -> Place {
    let place = with_sales(name);
    let manifest = place.read("suite/suite.toml");
    let (head, rest) = manifest.split_once("columns = [").unwrap();
    let (_, rest) = rest.split_once("\n]\n").unwrap();
    let sql = SQL.replace("item", "\"Item\"");
    place.and("suite/suite.toml", format!("{head}{rest}")).and("suite/items.sql", sql)
}

#[test]
fn columns_may_be_those_of_the_files() {
    for name in ["s.parquet", "s.arrow"] {
        let place = with_undeclared_sales(name);
        assert_eq!(run(&place, &[]).answer(), EXPECTED.replacen("item", "Item", 1), "{name}");
        let explained = place.caudal(&["explain", "suite", "--data", "data"]).answer();
        assert!(explained.contains("sales"), "{explained}");
    }
    assert_snapshot!(with_undeclared_sales("s.parquet").caudal(&["explain", "suite"]), @"
    exit 2
    --- stderr
    error[CDL-1121]: the columns of table `sales` are those of its files
    hint: say where they are: --data DIR
    ");
    assert_snapshot!(run(&with_undeclared_sales("s.ndjson"), &[]), @r#"
    exit 2
    --- stderr
    error[CDL-1121]: no columns are said of table `sales`, and its files are JSON
    hint: say them in suite.toml: columns = [{ name = "id", type = "int" }, ...]; caudal schema FILE shows what they are
    "#);
}

#[test]
fn a_type_that_the_file_does_not_have_is_told() {
    let place = with_sales("s.parquet");
    let manifest = place.read("suite/suite.toml").replace("decimal(8,2)", "float");
    assert_snapshot!(run(&place.and("suite/suite.toml", manifest), &[]), @"
    exit 2
    --- stderr
    error[CDL-1120]: data/s.parquet: column `price` of table `sales` is of type Decimal128(6, 2), and said to be float
    hint: say another type, or leave the table's columns out of suite.toml and use CAST in the queries
    ");
}

#[test]
fn rows_of_json_are_judged_by_the_types_that_are_said() {
    let place = with_sales("s.ndjson");
    let lines =
        place.read("data/s.ndjson") + "{\"id\":\"4\",\"Item\":\"pad\",\"price\":1,\"at\":null}\n";
    let place = place.and("data/s.ndjson", lines + "{\"id\":5,\"Item\":\"pad\",\"price\":1.005}\n");
    let all = "SELECT * FROM sales WHERE id > 3";
    let ran = run(&place.and("suite/items.sql", all), &["--lenient"]);
    assert_snapshot!(ran, @r#"
    exit 0
    --- stdout
    id,item,price,at
    --- stderr
    warning: 2 rows of sales did not fit and were left out
      data/s.ndjson:4: column `id`: `"4"` is not a valid Int64
      data/s.ndjson:5: column `price`: `1.005` is not a valid Decimal128(8, 2)
      (--rejects DIR keeps them, --strict makes them an error)
    "#);
}
