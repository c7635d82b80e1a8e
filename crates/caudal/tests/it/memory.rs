//! Spilling: data that does not fit into memory is spilled; what cannot be spilled fails with a code.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::DataType;
use caudal_oracle::compare;
use fastrand::Rng;

use crate::harness::{Run, Table, plain, schema};

const FRAGMENTS: usize = 40;
const FRAGMENT_ROWS: usize = 2_000;

/// About 10 MB of rows.
fn wide_table() -> Table {
    let schema = schema(&[("k", DataType::Int64), ("s", DataType::Utf8View)]);
    let mut rng = Rng::with_seed(5);
    let fragment = |rng: &mut Rng| {
        let keys: Vec<i64> = (0..FRAGMENT_ROWS).map(|_| rng.i64(..)).collect();
        let texts = keys.iter().map(|key| Some(format!("{key:0100}")));
        let columns: Vec<arrow::array::ArrayRef> = vec![
            Arc::new(Int64Array::from(keys.clone())),
            Arc::new(texts.collect::<StringViewArray>()),
        ];
        RecordBatch::try_new(schema.clone(), columns).unwrap()
    };
    let fragments = (0..FRAGMENTS).map(|_| fragment(&mut rng)).collect();
    Table { name: "t".to_string(), schema: schema.clone(), fragments }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sorts_groups_and_joins_larger_than_memory_are_spilled() {
    let tables = [wide_table()];
    for (sql, ordered) in
        [("SELECT k, s FROM t ORDER BY s", true), ("SELECT k, max(s) FROM t GROUP BY k", false)]
    {
        let queries = [sql.to_string()];
        let mut run = Run::new(&tables, &queries, 2);
        run.memory_bytes = 8 << 20;
        let (mut answers, seen) = run.answers().await.unwrap();
        let ours = answers.swap_remove(0).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let theirs = plain(&tables, sql).await.unwrap();
        let rows = compare(&ours, &theirs, ordered).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(rows, FRAGMENTS * FRAGMENT_ROWS);
        assert!(seen.spilled_bytes > 0, "{sql}: nothing was spilled");
    }
}

/// Rows that one shard still gathers must not take what another's sort needs to merge.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gathered_rows_leave_memory_to_what_runs() {
    let tables = [wide_table()];
    let queries = ["SELECT k, s FROM t ORDER BY s".to_string()];
    let mut run = Run::new(&tables, &queries, 1);
    run.memory_bytes = 16 << 20;
    let (answers, seen) = run.answers().await.unwrap();
    assert!(answers[0].is_ok());
    assert!(seen.spilled_bytes > 0, "10 MB were gathered in a pool of 16 MB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_spilled_fails_and_leaves_its_neighbour_alone() {
    let tables = [wide_table()];
    let queries = [
        "SELECT count(*) FROM t WHERE s NOT IN (SELECT s FROM t)".to_string(),
        "SELECT count(*) FROM t".to_string(),
    ];
    let mut run = Run::new(&tables, &queries, 1);
    run.memory_bytes = 4 << 20;
    let (answers, _) = run.answers().await.unwrap();
    let refusal = answers[0].as_ref().expect_err("what it builds does not fit");
    assert!(refusal.starts_with("not enough memory"), "{refusal}");
    assert!(answers[1].is_ok());
}
