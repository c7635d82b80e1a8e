//! A query that may answer early does, and says nothing twice.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::DataType;
use caudal::Error;
use caudal::local::{Local, Settings};
use caudal_broker::Faults;
use caudal_client::{Event, UploadCounters};
use caudal_core::TableId;
use caudal_oracle::{compare, fragments};
use caudal_protocol::TableFragment;
use tokio::sync::mpsc;

use crate::harness::{FRAGMENT_ROWS_MAX, Run, Table, plain, schema};

fn numbers(name: &str, column: &str, values: Vec<i64>, per_fragment: usize) -> Table {
    let schema = schema(&[(column, DataType::Int64)]);
    let values =
        RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(values))]).unwrap();
    let starts = (0..values.num_rows()).step_by(per_fragment);
    let fragments = starts
        .map(|start| values.slice(start, per_fragment.min(values.num_rows() - start)))
        .collect();
    Table { name: name.to_string(), schema, fragments }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_growing_count_is_answered_when_it_crosses_the_line() {
    const FRAGMENT_ROWS: usize = 20_000;
    let games = numbers("games", "id", (0..100).collect(), 100);
    // Half of the reviews are of game 7; the rest are scattered over very many.
    let reviews = (0..200_000).map(|n| if n % 2 == 0 { 7 } else { n }).collect();
    let reviews = numbers("reviews", "game", reviews, FRAGMENT_ROWS);
    let sql = "SELECT g.id FROM games g JOIN (SELECT game FROM reviews GROUP BY game \
               HAVING count(*) > 10000) r ON r.game = g.id";
    let (tables, queries) = ([games, reviews], [sql.to_string()]);
    let plan = Run::new(&tables, &queries, 2).plan().await.unwrap();
    assert!(plan.stage(plan.root(0.into()).unwrap()).early.is_some(), "planned to answer early");

    let local = Local::open(Arc::clone(&plan), Settings::default()).await.unwrap();
    let session = Arc::clone(&local.session);
    let (sender, mut rows) = mpsc::unbounded_channel();
    let counters = Arc::new(UploadCounters::new(2));
    let running = tokio::spawn(local.run::<Error>(vec![], counters, move |event| {
        if let Event::Rows(_, batch) = event {
            let _ = sender.send(batch.num_rows());
        }
        Ok(())
    }));
    let put = async |table: usize, number: usize| {
        let batch = tables[table].fragments[number].clone();
        let (table, number) = (TableId::from(table), u32::try_from(number).unwrap());
        session.put(TableFragment::new(table, number, batch)).await.unwrap();
    };
    put(0, 0).await;
    session.end_table(0.into(), 1).await.unwrap();
    // 20,000 reviews of game 7 have been sent after two fragments, and the table is far from its end.
    for number in 0..3 {
        put(1, number).await;
    }
    let first = tokio::time::timeout(std::time::Duration::from_secs(20), rows.recv()).await;
    assert_eq!(first.expect("an answer before the end of the table"), Some(1));
    for number in 3..tables[1].fragments.len() {
        put(1, number).await;
    }
    session.end_table(1.into(), tables[1].fragments.len() as u32).await.unwrap();
    running.await.unwrap().unwrap();
    let mut later = 0;
    while let Some(rows) = rows.recv().await {
        later += rows;
    }
    assert_eq!(later, 0, "said once");
}

#[tokio::test]
async fn what_may_still_change_is_not_answered_early() {
    let tables = [numbers("t", "a", vec![1], 1), numbers("u", "a", vec![1], 1)];
    let is_early = async |sql: &str| {
        let queries = [sql.to_string()];
        let plan = Run::new(&tables, &queries, 2).plan().await.unwrap();
        plan.stage(plan.root(0.into()).unwrap()).early.is_some()
    };
    assert!(is_early("SELECT a FROM t GROUP BY a HAVING count(*) >= 3").await);
    assert!(is_early("SELECT a FROM t GROUP BY a HAVING 3 < max(a) AND a < 9").await);
    assert!(is_early("SELECT a FROM t GROUP BY a HAVING min(a) < 3").await);
    assert!(
        is_early("SELECT a FROM t WHERE a IN (SELECT a FROM u GROUP BY a HAVING count(*) > 3)")
            .await
    );
    assert!(is_early("SELECT a FROM t GROUP BY a HAVING count(DISTINCT a % 7) > 3").await);
    // The count itself goes on growing; so does what is under an order or a limit.
    assert!(!is_early("SELECT a, count(*) FROM t GROUP BY a HAVING count(*) >= 3").await);
    assert!(!is_early("SELECT a FROM t GROUP BY a HAVING count(*) >= 3 ORDER BY a").await);
    assert!(!is_early("SELECT a FROM t GROUP BY a HAVING count(*) >= 3 LIMIT 1").await);
    // These can become false again.
    assert!(!is_early("SELECT a FROM t GROUP BY a HAVING count(*) < 3").await);
    assert!(!is_early("SELECT a FROM t GROUP BY a HAVING sum(a) > 3").await);
    assert!(
        !is_early(
            "SELECT a FROM t WHERE a NOT IN (SELECT a FROM u GROUP BY a HAVING count(*) > 3)"
        )
        .await
    );
}

/// Every shape of plan above and beside a stage that grows, under small fragments in any order: rows that are said
/// early are rows of the answer. `early`: whether the plan is to answer early, for a test in which nothing does
/// would prove nothing.
#[tokio::test]
async fn whatever_is_said_early_is_part_of_the_answer() {
    const SHAPES: &[(&str, bool)] = &[
        ("SELECT k FROM c WHERE n > 3", true),
        ("SELECT k + 1 AS k FROM c WHERE n > 3 AND k % 2 = 0", true),
        ("SELECT k FROM t GROUP BY k HAVING count(*) >= 6 AND min(v) < 40", true),
        ("SELECT k FROM t GROUP BY k HAVING count(DISTINCT v) > 4", true),
        ("SELECT k, s FROM t GROUP BY GROUPING SETS ((k), (s)) HAVING count(*) > 3", false),
        ("SELECT u.k, u.v FROM u JOIN (SELECT k FROM c WHERE n > 3) AS x ON x.k = u.k", true),
        ("SELECT u.v FROM u WHERE u.k IN (SELECT k FROM c WHERE n > 3)", true),
        ("SELECT k FROM c WHERE n > 3 AND k IN (SELECT k FROM u WHERE v > 50)", true),
        // Read twice: the other place sees an unfinished count.
        ("SELECT k, n FROM c WHERE k IN (SELECT k FROM c WHERE n > 1)", false),
        ("SELECT x.k, y.n FROM c AS x JOIN c AS y ON x.k = y.k WHERE x.n > 1", false),
        ("SELECT x.k FROM c AS x JOIN c AS y ON x.k = y.k WHERE x.n > 3 AND y.n > 5", false),
        ("SELECT x.k FROM c AS x JOIN c AS y ON x.n = y.k WHERE x.n > 3", false),
        (
            "SELECT k FROM c WHERE n > 3 AND EXISTS (SELECT 1 FROM c AS o WHERE o.k = c.k AND o.n < 9)",
            false,
        ),
        (
            "SELECT k FROM c WHERE n > 3 AND NOT EXISTS (SELECT 1 FROM c AS o WHERE o.k = c.k + 1 AND o.n > 5)",
            false,
        ),
        ("SELECT k FROM c WHERE n > 3 UNION ALL SELECT n FROM c", false),
        ("SELECT k FROM c WHERE n > 3 EXCEPT SELECT k FROM c WHERE n > 7", false),
        ("SELECT k FROM c WHERE n > (SELECT avg(n) FROM c)", false),
        // What is said would have to be taken back.
        ("SELECT k, n FROM c WHERE n > 3", false),
        ("SELECT u.k, x.k FROM u LEFT JOIN (SELECT k FROM c WHERE n > 3) AS x ON x.k = u.k", false),
        ("SELECT u.k FROM u WHERE u.k NOT IN (SELECT k FROM c WHERE n > 3)", false),
        ("SELECT k, row_number() OVER (ORDER BY k) AS r FROM c WHERE n > 3", false),
        ("SELECT count(*) AS r FROM c WHERE n > 3", false),
        ("SELECT k FROM c WHERE n > 3 ORDER BY k LIMIT 5", false),
        // Floats: the order decides what a maximum is, and how a key looks.
        ("SELECT k FROM t GROUP BY k HAVING max(f) > 0", false),
        ("SELECT k FROM t GROUP BY k HAVING min(f) < 0", false),
        ("SELECT f FROM t GROUP BY f HAVING count(*) > 2", false),
    ];
    caudal_runtime::failpoint::simulated::set_knobs([
        ("early_rows_min", 1..=3),
        ("merge_rows_min", 1..=40),
        ("output_fragment_rows", 1..=30),
    ]);
    for (seed, (shape, early)) in (0..).zip(SHAPES.iter().cycle().take(SHAPES.len() * 6)) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tables = [grown("t", 400, &mut rng), grown("u", 60, &mut rng)];
        let c = "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k)";
        let queries = [format!("{c} {shape}")];
        let faults = Faults { duplicate: 0.1, reorder: true };
        let run = Run { faults, seed, ..Run::new(&tables, &queries, 1 + rng.usize(..4)) };
        let plan = run.plan().await.unwrap();
        assert_eq!(plan.stage(plan.root(0.into()).unwrap()).early.is_some(), *early, "{shape}");
        let (mut answers, _) = run.answers().await.unwrap();
        let ours = answers.swap_remove(0).unwrap_or_else(|error| panic!("{shape}: {error}"));
        let theirs = plain(&tables, &queries[0]).await.unwrap();
        compare(&ours, &theirs, false).unwrap_or_else(|difference| panic!("{shape}\n{difference}"));
    }
}

/// Keys that repeat, a number, a float with all its oddities, a text; in very small fragments.
fn grown(name: &str, rows: usize, rng: &mut fastrand::Rng) -> Table {
    let schema = schema(&[
        ("k", DataType::Int64),
        ("v", DataType::Int64),
        ("f", DataType::Float64),
        ("s", DataType::Utf8View),
    ]);
    let floats = [-0.0, 0.0, 1.5, -2.5, f64::INFINITY, f64::NEG_INFINITY, 7.0];
    let keys: Int64Array = (0..rows).map(|_| (rng.u8(..9) > 0).then(|| rng.i64(..60))).collect();
    let values: Int64Array = (0..rows).map(|_| Some(rng.i64(..100))).collect();
    let odd: Float64Array = (0..rows).map(|_| Some(floats[rng.usize(..floats.len())])).collect();
    let texts: StringViewArray =
        (0..rows).map(|_| Some(format!("text {}", rng.u8(..50)))).collect();
    let columns: Vec<ArrayRef> =
        vec![Arc::new(keys), Arc::new(values), Arc::new(odd), Arc::new(texts)];
    let rows = RecordBatch::try_new(schema.clone(), columns).unwrap();
    let fragments = fragments(&rows, FRAGMENT_ROWS_MAX, rng);
    Table { name: name.to_string(), schema, fragments }
}

/// Rows that count as said have to be said, whatever becomes of the query beside them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_that_fails_early_is_no_loss_to_its_neighbour() {
    const APPS: usize = 20_000;
    let schema = schema(&[("app", DataType::Utf8View)]);
    let apps = (0..APPS).map(|n| if n == 7 { "x".to_string() } else { n.to_string() });
    let apps: ArrayRef = Arc::new(StringViewArray::from_iter_values(apps));
    let fragment = RecordBatch::try_new(Arc::clone(&schema), vec![apps]).unwrap();
    let tables = [Table { name: "t".to_string(), schema, fragments: vec![fragment; 8] }];
    let queries = [
        "SELECT app FROM t GROUP BY app HAVING count(*) > 2",
        "SELECT CAST(app AS BIGINT) AS a FROM t GROUP BY app HAVING count(*) > 2",
    ]
    .map(str::to_string);
    let run = Run::new(&tables, &queries, 2);
    let plan = run.plan().await.unwrap();
    for query in 0..queries.len() {
        assert!(plan.stage(plan.root(query.into()).unwrap()).early.is_some(), "answers early");
    }
    let answering = tokio::time::timeout(std::time::Duration::from_secs(60), run.answers());
    let (answers, _) = answering.await.expect("it does not hang").unwrap();
    let rows: usize = answers[0].as_ref().unwrap().iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, APPS);
    assert!(answers[1].is_err(), "x is no number");
}
