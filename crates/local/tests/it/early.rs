//! A query that may answer early does, and says nothing twice.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use caudal_client::{Event, Progress};
use caudal_core::{TableFragment, TableId};
use caudal_local::{Error, Local, Settings};
use tokio::sync::mpsc;

use crate::harness::{Run, Table, schema};

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
    assert!(plan.stage(plan.queries[0].root).early.is_some(), "planned to answer early");

    let local = Local::open(Arc::clone(&plan), Settings::default()).await.unwrap();
    let session = Arc::clone(&local.session);
    let (sender, mut rows) = mpsc::unbounded_channel();
    let progress = Arc::new(Progress::new(2));
    let running = tokio::spawn(local.run::<Error>(vec![], progress, move |event| {
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
        plan.stage(plan.queries[0].root).early.is_some()
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
