//! Many small fragments: what each of them costs does not grow with their number, and no shard waits for what cannot come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use caudal_broker::MemoryBroker;
use caudal_core::{SessionId, limits};

use crate::harness::{Run, Table, schema};
use crate::takeover::Cluster;

const ROWS: i64 = 3;
/// `CAUDAL_FRAGMENTS=100000` is the real thing, for whoever has minutes.
const MANY: i64 = 10_000;
const FEW: i64 = 1000;

/// With the baton in hand a consumer of sixteen messages gets fifteen: to wait for another is to wait in vain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_does_not_wait_for_more_than_the_broker_may_deliver() {
    let linger = Duration::from_secs(1);
    let fragments = 20 * limits::PREFETCH_MESSAGES as i64;
    let took = answer("linger", fragments, linger).await;
    // Once at the end, for the table's end comes before its last fragments; twenty times otherwise.
    assert!(took < 5 * linger, "{took:?} for {fragments} fragments");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fragment_among_many_costs_what_it_costs_among_few() {
    let many = std::env::var("CAUDAL_FRAGMENTS").map_or(MANY, |many| many.parse().unwrap());
    let linger = Duration::from_millis(limits::RECORD_LINGER_MS);
    let mut each = vec![];
    for fragments in [FEW, many] {
        let took = answer(&format!("many-{fragments}"), fragments, linger).await;
        println!("{fragments} fragments: {took:?}, {:?} each", took / fragments as u32);
        each.push(took / fragments as u32);
    }
    assert!(each[1] < each[0] * 2, "{:?} among many, {:?} among few", each[1], each[0]);
}

/// How long a session of so many fragments takes, whose answer is right.
async fn answer(name: &str, fragments: i64, linger: Duration) -> Duration {
    let tables = [numbers(fragments)];
    let sql = ["SELECT k, count(*) AS c FROM t GROUP BY k".to_string()];
    let cluster = Cluster {
        plan: Run::new(&tables, &sql, 1).plan().await.unwrap(),
        broker: Arc::new(MemoryBroker::default()),
        store: caudal_store::open("memory:").unwrap(),
        counts: Arc::default(),
        id: SessionId(name.to_string()),
    };
    let session = cluster.open().await;
    let started = Instant::now();
    let linger_ms = linger.as_millis() as u64;
    let _worker = cluster.start_lingering(0, Arc::clone(&cluster.store), linger_ms);
    let answers = cluster.read(session, &tables).await;
    let took = started.elapsed();
    let rows = answers[0].as_ref().unwrap();
    let counts = rows.iter().flat_map(|batch| batch.column(1).as_primitive::<Int64Type>().values());
    assert_eq!(counts.copied().collect::<Vec<_>>(), [fragments; ROWS as usize]);
    took
}

fn numbers(fragments: i64) -> Table {
    let schema = schema(&[("k", DataType::Int64)]);
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS));
    let fragment = RecordBatch::try_new(Arc::clone(&schema), vec![keys]).unwrap();
    Table { name: "t".to_string(), schema, fragments: vec![fragment; fragments as usize] }
}
