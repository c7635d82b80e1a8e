//! The answer does not depend on how rows are cut, divided, delivered, repeated and handed over.

use caudal_oracle::{Table, compare};

use crate::cluster::{Cluster, Faults, plan};
use crate::tables::{plain, tables};

const MEMORY_BYTES: usize = 64 << 20;

/// One query for each way in which a plan is cut.
const QUERIES: [&str; 10] = [
    "SELECT k, v FROM t WHERE v > 50",
    "SELECT k, count(*) AS n, sum(v) AS total, min(s) AS least FROM t GROUP BY k",
    "SELECT count(*) AS n, avg(v) AS mean FROM t",
    "SELECT k, v, s FROM t ORDER BY v DESC, k, s LIMIT 7",
    "SELECT t.k, t.v, u.w FROM t JOIN u ON u.k = t.k",
    "SELECT t.k, u.w FROM t LEFT JOIN u ON u.k = t.k WHERE t.v < 30",
    "SELECT k, count(DISTINCT v) AS n FROM t GROUP BY k HAVING count(DISTINCT v) > 3",
    "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, s) AS place FROM t",
    "SELECT k FROM t EXCEPT SELECT k FROM u",
    "SELECT s, n FROM (SELECT s, count(*) AS n FROM t GROUP BY s) x \
     WHERE n > (SELECT avg(n) FROM (SELECT count(*) AS n FROM t GROUP BY s) y)",
];

async fn expect_exact(tables: &[Table], shards: usize, faults: Faults, seed: u64) -> Cluster {
    let plan = plan(tables, &QUERIES, shards).await;
    let mut cluster = Cluster::new(plan, MEMORY_BYTES, faults, seed);
    let answers = cluster.answers(tables).await;
    for (sql, answer) in QUERIES.iter().zip(answers) {
        let expected = plain(tables, sql).await;
        if let Err(difference) = compare(&answer.unwrap(), &expected, false) {
            panic!("seed {seed}, {shards} shards: {sql}\n{difference}");
        }
    }
    cluster
}

#[tokio::test]
async fn any_cut_and_any_order_give_the_same_answer() {
    let tables = tables();
    for seed in 0..6 {
        for shards in [1, 3] {
            let cluster = expect_exact(&tables, shards, Faults::default(), seed).await;
            assert_eq!(cluster.happened.duplicates, 0, "nothing was sent twice");
        }
    }
}

#[tokio::test]
async fn repeated_runs_and_messages_and_new_owners_change_nothing() {
    let tables = tables();
    let faults = Faults { mapped_twice: 3, delivered_twice: 4, takeover: 5 };
    for seed in 0..12 {
        let cluster = expect_exact(&tables, 3, faults, seed).await;
        assert!(cluster.happened.duplicates > 20, "duplicates arrived: {:?}", cluster.happened);
        assert!(cluster.happened.takeovers > 20, "shards changed hands: {:?}", cluster.happened);
    }
}

#[tokio::test]
async fn empty_tables_are_complete_at_once() {
    let empty = tables().into_iter().map(|table| Table { rows: table.rows.slice(0, 0), ..table });
    expect_exact(&empty.collect::<Vec<_>>(), 3, Faults::default(), 1).await;
}

#[tokio::test]
async fn rows_that_are_said_early_are_said_once_whoever_owns_the_shard() {
    // As many rows as make a look worth while.
    let many = caudal_core::limits::EARLY_ROWS_MIN * 4;
    let mut tables = tables();
    let rows = &tables[0].rows;
    let copies: Vec<_> = (0..many / rows.num_rows() + 1).map(|_| rows.clone()).collect();
    tables[0].rows = arrow::compute::concat_batches(&rows.schema(), &copies).unwrap();
    let sql = "SELECT k, v FROM t GROUP BY k, v HAVING count(*) > 1";
    let faults = Faults { mapped_twice: 9, delivered_twice: 9, takeover: 9 };
    let mut early_rows = 0;
    for seed in 0..2 {
        let plan = plan(&tables, &[sql], 2).await;
        let mut cluster = Cluster::new(plan, MEMORY_BYTES, faults, seed);
        let answers = cluster.answers(&tables).await;
        let expected = plain(&tables, sql).await;
        compare(answers[0].as_ref().unwrap(), &expected, false).unwrap();
        early_rows += cluster.happened.early_rows;
    }
    assert!(early_rows > 0, "nothing was answered early");
}

#[tokio::test]
async fn what_does_not_fit_into_memory_is_spilled_and_read_back() {
    let tables = tables();
    let sql = "SELECT t.k, t.s, u.w FROM t JOIN u ON u.k = t.k";
    let plan = plan(&tables, &[sql], 2).await;
    let mut cluster = Cluster::new(plan, 24 << 10, Faults::default(), 3);
    let answers = cluster.answers(&tables).await;
    compare(answers[0].as_ref().unwrap(), &plain(&tables, sql).await, false).unwrap();
    assert!(cluster.spilled_bytes() > 0, "everything fitted");
}
