//! The functions of `caudal-functions` through SQL, as a session runs them: literals, tables, nulls, slices, encodings. Here,
//! because that crate is built with all optimisations, and a test of DataFusion built so takes minutes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;

fn session() -> SessionContext {
    let session = SessionContext::new();
    for function in caudal_functions::all() {
        session.register_udf(function);
    }
    session
}

/// The rows of the answer, one a line, columns separated by `, `.
async fn answer(session: &SessionContext, sql: &str) -> String {
    let batches = session.sql(sql).await.expect(sql).collect().await.expect(sql);
    let table = pretty_format_batches(&batches).expect("any batch can be printed").to_string();
    let rows = table.lines().skip(3).filter(|line| line.starts_with('|'));
    let trimmed = rows
        .map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join(", "));
    trimmed.collect::<Vec<_>>().join("\n")
}

async fn assert_answer(sql: &str, expected: &str) {
    assert_eq!(answer(&session(), sql).await, expected, "{sql}");
}

#[tokio::test]
async fn literals() {
    assert_answer(
        r#"SELECT python_list('[''Fiction'', "O''Hara, Jr."]')"#,
        "[Fiction, O'Hara, Jr.]",
    )
    .await;
    assert_answer("SELECT python_field('[{''id'': 18, ''name'': ''Ann''}, {}]', 'name')", "[Ann]")
        .await;
    assert_answer("SELECT language('The game crashes all the time')", "en").await;
    assert_answer("SELECT sentiment('not a very good film')", "-0.26923076923076916").await;
    assert_answer(
        "SELECT sentiment_label('a film'), sentiment_label('a bad film')",
        "NEUTRAL, NEGATIVE",
    )
    .await;
}

#[tokio::test]
async fn nulls_and_the_undecidable_give_null() {
    assert_answer(
        "SELECT python_list(NULL) IS NULL, python_list('') IS NULL, python_list('[''a') IS NULL, \
         python_list('[]') IS NULL, python_field('[]', NULL) IS NULL, language(' ') IS NULL, \
         language(NULL) IS NULL, sentiment(NULL) IS NULL, sentiment_label(NULL) IS NULL",
        "true, true, true, false, true, true, true, true, true",
    )
    .await;
}

#[tokio::test]
async fn lists_can_be_unnested_and_searched() {
    assert_answer("SELECT unnest(python_list('[1, ''b'']'))", "1\nb").await;
    assert_answer(
        "SELECT array_has(python_field('[{''name'': ''Spain''}]', 'name'), 'Spain')",
        "true",
    )
    .await;
}

#[tokio::test]
async fn the_three_encodings_with_nulls_and_slices() {
    let texts = [
        Some("sliced off"),
        Some("a good game"),
        None,
        Some("ein schlechtes Spiel"),
        Some("sliced off"),
    ];
    let encodings: [ArrayRef; 3] = [
        Arc::new(StringArray::from_iter(texts)),
        Arc::new(LargeStringArray::from_iter(texts)),
        Arc::new(StringViewArray::from_iter(texts)),
    ];
    for column in encodings {
        let encoding = column.data_type().clone();
        let batch = RecordBatch::try_from_iter([("text", column.slice(1, 3))]).expect("one column");
        let session = session();
        session.register_batch("reviews", batch).expect("a new name");
        let sql = "SELECT sentiment(text), sentiment_label(text), language(text), python_list(text), \
                   python_list(concat('[''', text, ''']')) FROM reviews";
        let expected = "0.14999999999999997, POSITIVE, en, , [a good game]\n, , , , []\n\
                        0.0, NEUTRAL, de, , [ein schlechtes Spiel]";
        assert_eq!(answer(&session, sql).await, expected, "{encoding}");
    }
}

#[tokio::test]
async fn keys_may_differ_by_row() {
    let sql = "SELECT python_field('{''a'': 1, ''b'': 2}', key) FROM (VALUES ('a'), ('b'), (NULL)) AS keys(key)";
    assert_answer(sql, "[1]\n[2]\n").await;
}

#[tokio::test]
async fn arrays_are_no_texts() {
    assert!(session().sql("SELECT sentiment(make_array(1))").await.is_err());
}
