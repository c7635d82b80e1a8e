//! Troubles that a worker takes in its stride: a session that is not wholly open yet, and a store that fails now
//! and then, however often in all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use async_trait::async_trait;
use bytes::Bytes;
use caudal_broker::MemoryBroker;
use caudal_core::{SessionId, limits};
use caudal_oracle::compare;
use caudal_store::{Created, Store, StoreError};

use crate::around::{Creating, around};
use crate::harness::{Run, Table, plain, schema};
use crate::takeover::Cluster;

const FRAGMENTS: i64 = 1000;
/// Writes of records that fail one after the other: more than failures of other kinds may.
const AWAY_FOR: u32 = 2 * limits::WORKER_RETRIES_MAX;
/// Every so many records one cannot be written.
const FAILS_EVERY: u32 = 4;

#[tokio::test]
async fn a_worker_waits_for_queues_that_are_not_made_yet() {
    let tables = [numbers()];
    let cluster = cluster("early", &tables, caudal_store::open("memory:").unwrap()).await;
    cluster.write_manifest().await;
    let _worker = cluster.start_on(0, Arc::clone(&cluster.store));
    // The gateway is slow, or another one goes on from here: longer than a worker tries what fails.
    tokio::time::sleep(Duration::from_secs(7)).await;
    let session = cluster.make_queues().await;
    check(&tables, cluster.read(session, &tables).await).await;
}

#[tokio::test]
async fn failures_with_successes_between_them_do_not_add_up() {
    let tables = [numbers()];
    let fitful = Arc::new(Fitful::default());
    let store = around(&caudal_store::open("memory:").unwrap(), Arc::clone(&fitful) as _);
    let cluster = cluster("fitful", &tables, store).await;
    let session = cluster.open().await;
    let _worker = cluster.start_on(0, Arc::clone(&cluster.store));
    check(&tables, cluster.read(session, &tables).await).await;
    let failures = fitful.calls.load(Ordering::Relaxed) / FAILS_EVERY;
    assert!(failures > limits::WORKER_RETRIES_MAX, "only {failures} failed");
}

#[tokio::test]
async fn a_store_that_fails_many_times_in_a_row_ends_no_session() {
    let tables = [numbers()];
    let away = Arc::new(Away::default());
    let store = around(&caudal_store::open("memory:").unwrap(), Arc::clone(&away) as _);
    let cluster = cluster("away", &tables, store).await;
    let session = cluster.open().await;
    let _worker = cluster.start_on(0, Arc::clone(&cluster.store));
    check(&tables, cluster.read(session, &tables).await).await;
    let calls = away.calls.load(Ordering::Relaxed);
    assert!(calls > AWAY_FOR, "only {calls} calls");
}

const SQL: &str = "SELECT k, count(*) AS c, sum(n) AS s FROM t GROUP BY k";

pub async fn cluster(name: &str, tables: &[Table], store: Arc<dyn Store>) -> Cluster {
    Cluster {
        plan: Run::new(tables, &[SQL.to_string()], 1).plan().await.unwrap(),
        broker: Arc::new(MemoryBroker::default()),
        store,
        counts: Arc::default(),
        id: SessionId(name.to_string()),
    }
}

pub async fn check(tables: &[Table], answers: Vec<crate::harness::Answer>) {
    let [ours] = &answers[..] else { panic!("one query") };
    let theirs = plain(tables, SQL).await.unwrap();
    compare(ours.as_ref().unwrap(), &theirs, false).unwrap();
}

pub fn numbers() -> Table {
    let schema = schema(&[("k", DataType::Int64), ("n", DataType::Int64)]);
    let fragment = |number: i64| {
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let values: ArrayRef = Arc::new(Int64Array::from(vec![number, 10 * number, 7]));
        RecordBatch::try_new(Arc::clone(&schema), vec![keys, values]).unwrap()
    };
    let fragments = (0..FRAGMENTS).map(fragment).collect();
    Table { name: "t".to_string(), schema, fragments }
}

/// Cannot write every fourth record of a journal.
#[derive(Default)]
struct Fitful {
    calls: AtomicU32,
}

#[async_trait]
impl Creating for Fitful {
    async fn create(
        &self,
        store: &dyn Store,
        name: &str,
        body: Bytes,
    ) -> Result<Created, StoreError> {
        let is_record = name.contains("/log/");
        if is_record && self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(FAILS_EVERY) {
            return Err(failed(name));
        }
        store.create(name, body).await
    }
}

/// Cannot write any record of a journal at first.
#[derive(Default)]
struct Away {
    calls: AtomicU32,
}

#[async_trait]
impl Creating for Away {
    async fn create(
        &self,
        store: &dyn Store,
        name: &str,
        body: Bytes,
    ) -> Result<Created, StoreError> {
        let is_record = name.contains("/log/");
        if is_record && self.calls.fetch_add(1, Ordering::Relaxed) < AWAY_FOR {
            return Err(failed(name));
        }
        store.create(name, body).await
    }
}

fn failed(name: &str) -> StoreError {
    let (name, reason) = (name.to_string(), "a test".to_string());
    StoreError::Failed { action: "create", name, reason }
}
