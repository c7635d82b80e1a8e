//! Queries that make much of little fail, each alone; nobody's process ends.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType;

use crate::harness::{Answer, Run, Table, schema};

fn rows(answer: &Answer) -> Result<usize, String> {
    let batches = answer.as_ref().map_err(String::clone)?;
    Ok(batches.iter().map(RecordBatch::num_rows).sum())
}

/// `t`: two fragments of 5000 rows, k counts them, s is a text of ten letters.
fn table() -> Table {
    let schema = schema(&[("k", DataType::Int64), ("s", DataType::Utf8)]);
    let fragment = |first: i64| {
        let k: ArrayRef = Arc::new((first..first + 5000).collect::<Int64Array>());
        let s: ArrayRef = Arc::new(StringArray::from(vec!["abcdefghij"; 5000]));
        RecordBatch::try_new(Arc::clone(&schema), vec![k, s]).unwrap()
    };
    Table {
        name: "t".into(),
        schema: Arc::clone(&schema),
        fragments: vec![fragment(0), fragment(5000)],
    }
}

async fn answers(queries: &[&str], shards: usize) -> Vec<Result<usize, String>> {
    let tables = [table()];
    let queries: Vec<String> = queries.iter().map(ToString::to_string).collect();
    let (answers, _) = Run::new(&tables, &queries, shards).answers().await.unwrap();
    answers.iter().map(rows).collect()
}

#[tokio::test]
async fn what_would_be_too_much_is_an_error_wherever_it_stands() {
    let much = [
        "SELECT length(repeat(arrow_cast('x', 'LargeUtf8'), 4000000000000000000))",
        "SELECT repeat(s, 100000) FROM t",
        "SELECT k FROM t WHERE length(repeat(s, 100000)) > 0",
        "SELECT k, lpad(s, 1000000) FROM t ORDER BY k",
        "SELECT count(*) FROM t GROUP BY repeat(s, CAST(k + 100000 AS INT))",
        "SELECT count(*) FROM t a JOIN t b ON repeat(a.s, 100000) = b.s",
        "SELECT max(array_length(range(k * 1000000))) FROM t",
        "SELECT length(range(9223372036854775807)::text)",
        "SELECT unnest(range(0, 9223372036854775807)) LIMIT 1",
        "SELECT [repeat(s, 30000), repeat(s, 30000)] FROM t",
        "SELECT repeat(s, 2000) || repeat(s, 2000) || repeat(s, 2000) || repeat(s, 2000) FROM t",
        // Doubled again and again, as a constant and of a column.
        "WITH a AS (SELECT s || s AS s FROM t), b AS (SELECT s || s || s || s AS s FROM a), \
         c AS (SELECT s || s || s || s || s || s || s || s AS s FROM b), \
         d AS (SELECT s || s || s || s || s || s || s || s AS s FROM c), \
         e AS (SELECT s || s || s || s || s || s || s || s AS s FROM d), \
         f AS (SELECT s || s || s || s || s || s || s || s AS s FROM e), \
         g AS (SELECT s || s || s || s || s || s || s || s AS s FROM f) SELECT max(length(s)) FROM g",
        "WITH RECURSIVE r AS (SELECT repeat('x', 1000) AS s, 1 AS n UNION ALL SELECT s || s, n + 1 FROM r WHERE n < 60) \
         SELECT max(length(s)) FROM r",
        // A constant is a value of every row.
        "SELECT k, repeat('x', 100000) FROM t",
        "SELECT CASE WHEN k > 5 THEN repeat('x', 100000) ELSE s END FROM t",
        // So is every value of such a type.
        "SELECT arrow_cast(NULL, 'FixedSizeBinary(2000000000)')",
        "SELECT k, arrow_cast(NULL, 'FixedSizeBinary(2000000000)') FROM t",
        "SELECT CAST(NULL AS INT[2000000000])",
        // Every row has all before it.
        "SELECT k, array_agg(k) OVER (ORDER BY k) FROM t",
        "SELECT k, string_agg(s, ',') OVER (ORDER BY k ROWS BETWEEN 8000 PRECEDING AND CURRENT ROW) FROM t",
        "SELECT overlay(repeat(s, 60000) PLACING repeat(s, 60000) FROM 1) FROM t",
    ];
    let enough = [
        ("SELECT repeat(s, 100) FROM t", 10_000),
        ("SELECT length(repeat('x', 1000000))", 1),
        ("SELECT repeat('x', 100000)", 1),
        ("SELECT k FROM t WHERE s <> repeat('x', 100000)", 10_000),
        ("SELECT s || '-' || k FROM t", 10_000),
        ("SELECT s || NULL FROM t WHERE (s || NULL) IS NULL", 10_000),
        (
            "SELECT k, array_agg(k) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t",
            10_000,
        ),
        ("SELECT DISTINCT concat(s, 'x'), [s, s], s || s FROM t", 1),
        ("SELECT * FROM generate_series(1, 100000)", 100_000),
        // Too much of a whole fragment, and not of a slice of it.
        ("SELECT k FROM t WHERE length(lpad(s, 60000)) = 60000", 10_000),
        ("SELECT k % 7, max(length(lpad(s, 60000))), count(*) FROM t GROUP BY k % 7", 7),
        ("SELECT k, lpad(s, 60000) FROM t WHERE k < 5000", 5000),
        ("SELECT k FROM t WHERE array_has(range(20000), k)", 10_000),
    ];
    let all: Vec<&str> = much.iter().copied().chain(enough.iter().map(|(sql, _)| *sql)).collect();
    for shards in [1, 3] {
        let answers = answers(&all, shards).await;
        for (sql, answer) in all.iter().zip(&answers).take(much.len()) {
            let failure = answer.as_ref().expect_err(sql);
            assert!(
                failure.contains(" would make ") && failure.contains(" are the most"),
                "{sql}: {failure}"
            );
        }
        for ((sql, rows), answer) in enough.iter().zip(&answers[much.len()..]) {
            assert_eq!(answer.as_ref(), Ok(rows), "{sql}");
        }
    }
}

/// The table function makes a batch at a time: a query over far too many rows takes little memory, and ends when it is given up.
#[tokio::test]
async fn a_series_that_nobody_waits_for_is_given_up() {
    let queries =
        ["SELECT count(*), max(value % 7) FROM generate_series(1, 1000000000000000)".to_string()];
    let tables = [table()];
    let run = Run::new(&tables, &queries, 2);
    let given_up = tokio::time::timeout(Duration::from_millis(1500), run.answers()).await;
    assert!(given_up.is_err(), "nobody counts that fast");
    // Whatever ran has been dropped: the same runtime answers at once.
    let answer =
        tokio::time::timeout(Duration::from_secs(20), answers(&["SELECT count(*) FROM t"], 1));
    assert_eq!(answer.await.unwrap(), [Ok(1)]);
}

/// The size of their result could not be known before: our SQL has none.
#[tokio::test]
async fn functions_of_functions_cannot_be_called() {
    for call in ["array_transform([1, 2], x -> repeat('x', x))", "array_filter([1, 2], x -> x > 1)"]
    {
        let (tables, queries) = ([table()], [format!("SELECT {call}")]);
        assert!(Run::new(&tables, &queries, 1).plan().await.is_err(), "{call}");
    }
}
