//! Results on their way to a client: no more than somebody reads, and none of a query that has failed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use caudal::local::{Local, Settings};
use caudal_broker::{Broker, MemoryBroker};
use caudal_core::{QueryId, TableId};
use caudal_protocol::{Message, TableFragment};
use futures::FutureExt;

use crate::harness::{Run, Table, schema};

const FRAGMENTS: u32 = 60;

/// A table of one column, the rows of a fragment being its number.
fn table() -> Table {
    let schema = schema(&[("k", DataType::Int64)]);
    let fragment = |number: u32| {
        let column = Arc::new(Int64Array::from(vec![i64::from(number); 1000]));
        RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap()
    };
    let fragments = (0..FRAGMENTS).map(fragment).collect();
    Table { name: "t".to_string(), schema: Arc::clone(&schema), fragments }
}

async fn wait_until(condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it comes to be");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_that_has_failed_has_no_more_results() {
    let tables = [table()];
    let queries = ["SELECT 7 / k FROM t".to_string(), "SELECT k FROM t".to_string()];
    let plan = Run::new(&tables, &queries, 1).plan().await.unwrap();
    let broker: Arc<dyn Broker> = Arc::new(Arc::new(MemoryBroker::default()));
    let settings = Settings { threads: 2, ..Settings::default() };
    let local = Local::open_on(Arc::clone(&broker), plan, settings).await.unwrap();
    let put = async |number: u32| {
        let batch = tables[0].fragments[number as usize].clone();
        local.session.put(TableFragment::new(TableId(0), number, batch)).await.unwrap();
    };
    let mapped = || local.counts.mapped.load(Ordering::Relaxed);
    // The first divides by zero.
    put(0).await;
    wait_until(|| mapped() == 1).await;
    for number in 1..FRAGMENTS {
        put(number).await;
    }
    wait_until(|| mapped() == u64::from(FRAGMENTS)).await;

    let mut parts = vec![];
    for query in [0, 1].map(QueryId) {
        let mut results = broker.consume(&local.session.queues.result(query), 1000).await.unwrap();
        let mut messages = vec![];
        while let Some(next) = results.next().now_or_never() {
            messages.push(next.unwrap().expect("the queue is there").message);
        }
        let failures = messages.iter().filter(|m| matches!(***m, Message::Failed { .. })).count();
        assert_eq!(failures, usize::from(query == QueryId(0)));
        parts.push(messages.len() - failures);
    }
    assert_eq!(parts[0], 0, "nobody needs them");
    assert_eq!(parts[1], FRAGMENTS as usize, "its neighbour has all");
}
