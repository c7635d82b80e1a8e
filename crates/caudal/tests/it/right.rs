//! Answers that are known from elsewhere: `tests/right/*.txt` hold queries, each with the rows that PostgreSQL
//! gives, or DuckDB where PostgreSQL does not know the syntax (`tools/right` wrote them down). Plain DataFusion gets
//! most of them wrong: `docs/datafusion.md` names them.
//!
//! ```text
//! # what the case is about
//! SELECT ...
//! ----
//! 1 | NULL | 2.5          the rows, sorted; or `refused: ...`, a part of the message
//! ```

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType;

use crate::harness::{Run, Table, cells, schema};

struct Case {
    about: String,
    sql: String,
    rows: Vec<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (query, rows) = part.split_once("\n----").expect(part);
            let (about, sql) = query.split_once('\n').expect(part);
            Case {
                about: about.trim_start_matches("# ").to_string(),
                sql: sql.to_string(),
                rows: rows.lines().filter(|row| !row.is_empty()).map(str::to_string).collect(),
            }
        })
        .collect()
}

/// The tables, from the same text that other databases have read: an empty field is NULL.
fn table(name: &str, columns: &[(&str, DataType)], rows: &str, rows_each: usize) -> Table {
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    let schema = schema(columns);
    let fragments = rows.chunks(rows_each).map(|rows| {
        let column = |at: usize| -> ArrayRef {
            let fields = rows.iter().map(|row| Some(row[at]).filter(|field| !field.is_empty()));
            match columns[at].1 {
                DataType::Int64 => Arc::new(
                    fields.map(|field| field.map(|x| x.parse().unwrap())).collect::<Int64Array>(),
                ),
                DataType::Float64 => Arc::new(
                    fields.map(|field| field.map(|x| x.parse().unwrap())).collect::<Float64Array>(),
                ),
                _ => Arc::new(fields.collect::<StringArray>()),
            }
        };
        let arrays = (0..columns.len()).map(column).collect();
        RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap()
    });
    Table { name: name.into(), fragments: fragments.collect(), schema: Arc::clone(&schema) }
}

fn tables(rows_each: usize) -> Vec<Table> {
    use DataType::{Float64, Int64, Utf8};
    let read = |name: &str| {
        let path = format!("{}/tests/right/{name}.csv", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        text.split_once('\n').unwrap().1.trim_end().to_string()
    };
    let t = [("k", Int64), ("n", Int64), ("f", Float64), ("s", Utf8)];
    let u = [("k", Int64), ("m", Int64), ("g", Float64), ("s", Utf8)];
    let v = [("k", Int64), ("j", Int64), ("w", Utf8)];
    vec![
        table("t", &t, &read("t"), rows_each),
        table("u", &u, &read("u"), rows_each),
        table("v", &v, &read("v"), rows_each),
    ]
}

/// Numbers as they are compared: of whatever type, with ten digits.
fn normal(field: &str) -> String {
    match field.parse::<f64>() {
        Ok(0.0) => "0".into(),
        Ok(number) if number.is_nan() => "nan".into(),
        Ok(number) => {
            format!("{:.9e}", number).parse::<f64>().map_or(field.into(), |n| n.to_string())
        }
        Err(_) => field.into(),
    }
}

fn rendered(batches: &[RecordBatch]) -> Vec<String> {
    let row =
        |cells: &Vec<String>| cells.iter().map(|cell| normal(cell)).collect::<Vec<_>>().join(" | ");
    let mut rows: Vec<String> = cells(batches).iter().map(row).collect();
    rows.sort();
    rows
}

async fn differences(text: &str) -> Vec<String> {
    let mut differences = vec![];
    for (shards, rows_each) in [(1, 100), (3, 2)] {
        let tables = tables(rows_each);
        for case in cases(text) {
            let queries = [case.sql.clone()];
            let answer = match Run::new(&tables, &queries, shards).answers().await {
                Ok((mut answers, _)) => answers.swap_remove(0),
                Err(refusal) => Err(refusal),
            };
            let mut expected: Vec<String> = case
                .rows
                .iter()
                .map(|row| row.split(" | ").map(normal).collect::<Vec<_>>().join(" | "))
                .collect();
            expected.sort();
            let same =
                match (&answer, case.rows.first().and_then(|row| row.strip_prefix("refused: "))) {
                    (Err(error), Some(part)) => error.contains(part),
                    (Ok(batches), None) => rendered(batches) == expected,
                    _ => false,
                };
            if !same {
                let ours = answer.map(|batches| rendered(&batches));
                differences.push(format!(
                    "{} ({shards} shards)\n{}\nexpected: {expected:?}\nours: {ours:?}\n",
                    case.about, case.sql
                ));
            }
        }
    }
    differences
}

macro_rules! files {
    ($($name:ident),*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let text = include_str!(concat!("../right/", stringify!($name), ".txt"));
            let differences = differences(text).await;
            assert!(differences.is_empty(), "{}", differences.join("\n"));
            assert!(cases(text).len() > 3, "the file has cases");
        }
    )*};
}

files!(subqueries, joins, sets, windows, aggregates, floats, patterns, times, dependencies, names);
files!(conversions, functions);
files!(conditions, correlated, literals, orders, positions, synonyms);
