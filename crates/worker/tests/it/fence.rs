//! The schedule that needs the fence: an owner freezes with a record in hand, another takes over, writes and dies,
//! the first thaws and writes too, a third loads the journal.
//!
//! Rows that come again are dropped when a journal is loaded as they are when they arrive: they do no harm. What the
//! first has in hand is an early answer, and the second has given another one the same number. With the fence
//! the answer is exact. Where creating overwrites, it is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use async_trait::async_trait;
use bytes::Bytes;
use caudal::Error;
use caudal::local::InProcess;
use caudal_broker::MemoryBroker;
use caudal_client::{Event, UploadCounters};
use caudal_core::{SessionId, ShardId, TableId};
use caudal_gateway::Session;
use caudal_protocol::{Queues, TableFragment};
use caudal_store::{Created, Store, StoreError};
use caudal_testing::until;
use tokio::sync::Notify;

use crate::around::{Creating, around};
use crate::harness::{Run, Table, schema};
use crate::takeover::Cluster;

const FRAGMENTS: u32 = 4;
/// Enough, of one key, to be told of before the table ends.
const HOT_ROWS: i64 = 1000;
/// Of a key each: more than have to come before a shard looks for early answers.
const OTHER_ROWS: i64 = 5000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fence_keeps_a_thawed_owner_from_corrupting_the_journal() {
    assert_eq!(keys_after_the_schedule(true).await, Some(vec![0, 1, 2, 3]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_fence_it_goes_wrong() {
    let keys = keys_after_the_schedule(false).await;
    assert_ne!(
        keys,
        Some(vec![0, 1, 2, 3]),
        "the schedule does not need the fence: it proves nothing"
    );
    println!("without the fence the keys are {keys:?}");
}

/// Fragment *n* has the key *n* often, and many others once.
fn fragment(number: u32) -> TableFragment {
    let hot = i64::from(number);
    let others = (1 + hot) * 1_000_000..(1 + hot) * 1_000_000 + OTHER_ROWS;
    let keys = std::iter::repeat_n(hot, HOT_ROWS as usize).chain(others);
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(keys));
    TableFragment::new(TableId(0), number, RecordBatch::try_new(columns(), vec![keys]).unwrap())
}

fn columns() -> arrow::datatypes::SchemaRef {
    schema(&[("k", DataType::Int64)])
}

/// The answer; none where it never comes.
async fn keys_after_the_schedule(fenced: bool) -> Option<Vec<i64>> {
    let tables = [Table { name: "t".to_string(), schema: columns(), fragments: vec![] }];
    let sql = [format!("SELECT k FROM t GROUP BY k HAVING count(*) >= {HOT_ROWS}")];
    let plan = Run::new(&tables, &sql, 1).plan().await.unwrap();
    assert!(plan.stage(plan.root(0.into()).unwrap()).early.is_some(), "planned to answer early");
    let mut store = caudal_store::open("memory:").unwrap();
    if !fenced {
        store = around(&store, Arc::new(Unfenced));
    }
    let cluster = Cluster {
        plan,
        broker: Arc::new(MemoryBroker::default()),
        store: Arc::clone(&store),
        counts: Arc::default(),
        id: SessionId(format!("fence-{fenced}")),
    };
    let session = cluster.open().await;
    let mapped = |count: u64| {
        let counts = Arc::clone(&cluster.counts);
        until("it is mapped", async move || counts.mapped.load(Ordering::SeqCst) == count)
    };

    // A takes fragment 0, has key 0 to tell, and freezes before that is written down.
    let before_first = Gate::new(0, Side::Before);
    session.put(fragment(0)).await.unwrap();
    let frozen = cluster.start_on(0, around(&store, Arc::clone(&before_first) as _));
    until("A freezes", async || before_first.is_reached()).await;
    session.put(fragment(1)).await.unwrap();
    mapped(2).await;

    // The broker takes A for dead. B takes over and writes that down, takes both fragments, writes that keys
    // 0 and 1 are told, and dies before they are.
    let shard = Queues { session: cluster.id.clone() }.shard(ShardId(0));
    cluster.broker.lose_consumers(&shard);
    let after_second = Gate::new(1, Side::After);
    let successor = cluster.start_on(1, around(&store, Arc::clone(&after_second) as _));
    until("B has written", async || after_second.is_reached()).await;
    drop(successor);

    // A thaws and writes, too. C goes on from the journal.
    before_first.open();
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(frozen);
    let _third = cluster.start_on(2, Arc::clone(&cluster.store));
    for number in 2..FRAGMENTS {
        session.put(fragment(number)).await.unwrap();
    }
    session.end_table(TableId(0), FRAGMENTS).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), read_keys(session)).await.ok()
}

async fn read_keys(session: Arc<Session>) -> Vec<i64> {
    let mut keys = vec![];
    let service = Arc::new(InProcess::new(session));
    let counters = Arc::new(UploadCounters::new(1));
    let read = caudal_client::run::<Error>(service, vec![], 1, counters, |event| {
        if let Event::Rows(_, batch) = event {
            keys.extend(batch.column(0).as_primitive::<Int64Type>().values());
        }
        Ok(())
    });
    read.await.unwrap();
    keys.sort_unstable();
    keys
}

/// The fence, switched off: creating overwrites.
struct Unfenced;

#[async_trait]
impl Creating for Unfenced {
    async fn create(
        &self,
        store: &dyn Store,
        name: &str,
        body: Bytes,
    ) -> Result<Created, StoreError> {
        store.put(name, body).await.map(|()| Created::New)
    }
}

/// A process freezes around one of the records that it writes.
struct Gate {
    at: usize,
    side: Side,
    records: AtomicUsize,
    is_reached: AtomicBool,
    opened: Notify,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Gate {
    fn new(at: usize, side: Side) -> Arc<Self> {
        Arc::new(Self {
            at,
            side,
            records: AtomicUsize::new(0),
            is_reached: AtomicBool::new(false),
            opened: Notify::new(),
        })
    }

    fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::SeqCst)
    }

    fn open(&self) {
        self.opened.notify_one();
    }

    async fn pass(&self, record: Option<usize>, side: Side) {
        if record == Some(self.at) && side == self.side {
            self.is_reached.store(true, Ordering::SeqCst);
            self.opened.notified().await;
        }
    }
}

#[async_trait]
impl Creating for Gate {
    async fn create(
        &self,
        store: &dyn Store,
        name: &str,
        body: Bytes,
    ) -> Result<Created, StoreError> {
        let is_record = name.contains("/log/");
        let record = is_record.then(|| self.records.fetch_add(1, Ordering::SeqCst));
        self.pass(record, Side::Before).await;
        let created = store.create(name, body).await;
        self.pass(record, Side::After).await;
        created
    }
}
