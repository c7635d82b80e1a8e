//! The schedule that needs the fence: an owner freezes with a record in hand, another takes over and
//! writes, the first thaws and writes too, the second dies, a third loads the journal.
//!
//! With the fence the answer is exact. Where creating overwrites, it is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use async_trait::async_trait;
use bytes::Bytes;
use caudal_broker::MemoryBroker;
use caudal_client::{Event, Progress};
use caudal_core::{Queues, SessionId, ShardId, TableFragment, TableId};
use caudal_gateway::Session;
use caudal_journal::{Created, Store, StoreError};
use caudal_local::{Error, InProcess};
use tokio::sync::Notify;

use crate::harness::{Run, Table, schema};
use crate::takeover::Cluster;

const FRAGMENTS: u32 = 4;
const LOOK: Duration = Duration::from_millis(5);
const LOOKS_MAX: usize = 2000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fence_keeps_a_thawed_owner_from_spoiling_the_journal() {
    assert_eq!(sum_after_the_schedule(true).await, Some(1111));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_fence_it_goes_wrong() {
    let sum = sum_after_the_schedule(false).await;
    assert_ne!(sum, Some(1111), "the schedule does not need the fence: it proves nothing");
    println!("without the fence the sum is {sum:?}");
}

/// Fragment *n* holds 10 to the *n*: the sum says which were counted, and how often.
fn fragment(number: u32) -> TableFragment {
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let values: ArrayRef = Arc::new(Int64Array::from(vec![10_i64.pow(number)]));
    let batch = RecordBatch::try_new(columns(), vec![keys, values]).unwrap();
    TableFragment::new(TableId(0), number, batch)
}

fn columns() -> arrow::datatypes::SchemaRef {
    schema(&[("k", DataType::Int64), ("n", DataType::Int64)])
}

/// The answer; none where it never comes.
async fn sum_after_the_schedule(fenced: bool) -> Option<i64> {
    let tables = [Table { name: "t".to_string(), schema: columns(), fragments: vec![] }];
    let sql = ["SELECT k, sum(n) AS s FROM t GROUP BY k".to_string()];
    let plan = Run::new(&tables, &sql, 1).plan().await.unwrap();
    let store = Arc::new(Spoilable { inner: caudal_journal::open("memory:").unwrap(), fenced });
    let cluster = Cluster {
        plan,
        broker: Arc::new(MemoryBroker::default()),
        store: Arc::clone(&store) as Arc<dyn Store>,
        counts: Arc::default(),
        id: SessionId(format!("fence-{fenced}")),
    };
    let session = cluster.open().await;

    // A takes fragment 0 and freezes before it is written down.
    let gate = Arc::new(Gate::new(store));
    session.put(fragment(0)).await.unwrap();
    let frozen = cluster.start_on(0, Arc::clone(&gate) as Arc<dyn Store>);
    until(|| gate.waiting.load(Ordering::SeqCst) > 0).await;

    // The broker takes A for dead: B gets the shard and writes both fragments.
    let shard = Queues { session: cluster.id.clone() }.shard(ShardId(0));
    cluster.broker.lose_consumers(&shard);
    let successor = cluster.start_on(1, Arc::clone(&cluster.store));
    until_records(&cluster, 2).await;
    session.put(fragment(1)).await.unwrap();
    until_records(&cluster, 3).await;

    // A thaws and writes, too; B dies; C goes on from the journal.
    gate.open();
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop((frozen, successor));
    let _third = cluster.start_on(2, Arc::clone(&cluster.store));
    for number in 2..FRAGMENTS {
        session.put(fragment(number)).await.unwrap();
    }
    session.end_table(TableId(0), FRAGMENTS).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), read_sum(session)).await.ok()
}

async fn read_sum(session: Arc<Session>) -> i64 {
    let mut sum = 0;
    let service = Arc::new(InProcess::new(session));
    let progress = Arc::new(Progress::new(1));
    let read = caudal_client::run::<Error>(service, vec![], 1, progress, |event| {
        if let Event::Rows(_, batch) = event {
            sum += batch.column(1).as_primitive::<Int64Type>().iter().flatten().sum::<i64>();
        }
        Ok(())
    });
    read.await.unwrap();
    sum
}

async fn until_records(cluster: &Cluster, count: usize) {
    let written = async || {
        let names = cluster.store.list("sessions").await.unwrap();
        names.iter().filter(|name| name.contains("/log/")).count()
    };
    for _ in 0..LOOKS_MAX {
        if written().await >= count {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    panic!("{} records instead of {count}", written().await);
}

async fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..LOOKS_MAX {
        if is_so() {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    panic!("it does not come");
}

/// A store whose fence can be switched off: creating overwrites.
struct Spoilable {
    inner: Arc<dyn Store>,
    fenced: bool,
}

#[async_trait]
impl Store for Spoilable {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        if self.fenced {
            return self.inner.create(name, body).await;
        }
        self.inner.put(name, body).await.map(|()| Created::New)
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.inner.put(name, body).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.inner.get(name).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(folder).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.inner.folders(folder).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.inner.delete(name).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.inner.delete_folder(folder).await
    }
}

/// The store as a process sees it that freezes when it writes a record.
struct Gate {
    inner: Arc<Spoilable>,
    is_open: AtomicBool,
    waiting: AtomicUsize,
    opened: Notify,
}

impl Gate {
    fn new(inner: Arc<Spoilable>) -> Self {
        let opened = Notify::new();
        Self { inner, is_open: AtomicBool::new(false), waiting: AtomicUsize::new(0), opened }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
        self.opened.notify_waiters();
    }
}

#[async_trait]
impl Store for Gate {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        while name.contains("/log/") && !self.is_open.load(Ordering::SeqCst) {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            self.opened.notified().await;
        }
        self.inner.create(name, body).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.inner.put(name, body).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.inner.get(name).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(folder).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.inner.folders(folder).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.inner.delete(name).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.inner.delete_folder(folder).await
    }
}
