//! Early answers are written once, outlive their owner, and are not given twice.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use caudal_broker::MemoryBroker;
use caudal_core::{SessionId, TableId};
use caudal_oracle::compare;
use caudal_protocol::{Objects, TableFragment};

use crate::harness::{Run, Table, plain, schema};
use crate::takeover::Cluster;

const FRAGMENTS: i64 = 40;
const SQL: &str = "SELECT k FROM t GROUP BY k HAVING count(*) > 50";

/// Keys of which the lower ones come first.
fn keys() -> Table {
    let schema = schema(&[("k", DataType::Int64)]);
    let fragment = |number: i64| {
        let keys = (0..20_000).map(|row| (row % 2000) + 100 * number);
        let k: ArrayRef = Arc::new(Int64Array::from_iter_values(keys));
        RecordBatch::try_new(Arc::clone(&schema), vec![k]).unwrap()
    };
    let fragments = (0..FRAGMENTS).map(fragment).collect();
    Table { name: "t".to_string(), schema, fragments }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_outlive_their_owner_and_are_said_once() {
    let tables = [keys()];
    let cluster = Cluster {
        plan: Run::new(&tables, &[SQL.to_string()], 1).plan().await.unwrap(),
        broker: Arc::new(MemoryBroker::default()),
        store: caudal_store::open("memory:").unwrap(),
        counts: Arc::default(),
        id: SessionId("early".to_string()),
    };
    let stage = cluster.plan.root(0.into()).unwrap();
    assert!(cluster.plan.stage(stage).early.is_some(), "planned to answer early");
    let session = cluster.open().await;
    let first = cluster.start_on(0, Arc::clone(&cluster.store));
    let put = async |number: usize| {
        let batch = tables[0].fragments[number].clone();
        session.put(TableFragment::new(TableId(0), number as u32, batch)).await.unwrap();
    };
    for number in 0..20 {
        put(number).await;
    }
    let folder =
        format!("{}/shards/0/out/{stage}", Objects { session: cluster.id.clone() }.folder());
    let written = async || cluster.store.list(&folder).await.unwrap();
    let answered = async {
        while written().await.len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), answered).await.expect("early answers");
    drop(first);
    let before = written().await;

    // Everything again: what has been put is dropped by its number.
    let _second = cluster.start_on(1, Arc::clone(&cluster.store));
    let answers = cluster.read(Arc::clone(&session), &tables).await;
    let [Ok(ours)] = &answers[..] else { panic!("{answers:?}") };
    let theirs = plain(&tables, SQL).await.unwrap();
    compare(ours, &theirs, false).unwrap();
    let after = written().await;
    assert!(before.iter().all(|name| after.contains(name)), "none is written anew");
    let takeovers = cluster.counts.takeovers.load(std::sync::atomic::Ordering::Relaxed);
    assert!(takeovers > 0, "the second took over");
}
