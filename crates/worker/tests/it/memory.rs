//! Sessions that share the memory of a worker.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use caudal_broker::MemoryBroker;
use caudal_core::{SessionId, ShardId};
use caudal_engine::{Engine, Memory, Shard};
use futures::channel::mpsc;

use crate::harness::{Run, Table, schema};
use crate::takeover::Cluster;

const MEMORY_BYTES: usize = 64 << 20;

fn numbers() -> Table {
    let schema = schema(&[("k", DataType::Int64)]);
    let fragment = |first: i64| {
        let k: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + 50_000));
        RecordBatch::try_new(Arc::clone(&schema), vec![k]).unwrap()
    };
    let fragments = (0..4).map(|number| fragment(number * 50_000)).collect();
    Table { name: "t".to_string(), schema, fragments }
}

/// A stage of another session, which runs until it is dropped.
async fn another_stage(memory: &Memory) -> tokio::task::JoinHandle<()> {
    let plan = Run::new(&[], &["SELECT 1".to_string()], 1).plan().await.unwrap();
    let engine = Arc::new(Engine::new(plan, memory));
    let mut shard = Shard::new(ShardId(0), Arc::clone(&engine), &BTreeSet::new());
    let completion = shard.next_complete().expect("it needs nothing").map_err(|(_, e)| e).unwrap();
    let (mut sender, receiver) = mpsc::channel(0);
    // The only place there is: whatever the stage gives out is not taken.
    let taken = caudal_engine::StageOutput {
        to: caudal_engine::complete::Destination::Shard(ShardId(0)),
        number: 0,
        end: None,
        batches: vec![],
    };
    sender.try_send(taken).unwrap();
    tokio::spawn(async move {
        let _receiver = receiver;
        engine.complete(&completion, sender).await.unwrap();
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stage_that_others_left_no_memory_is_run_again() {
    let tables = [numbers()];
    // What it builds cannot be spilled.
    let sql = "SELECT count(*) FROM t WHERE k NOT IN (SELECT k FROM t WHERE k > 10)".to_string();
    let cluster = Cluster {
        plan: Run::new(&tables, &[sql], 1).plan().await.unwrap(),
        broker: Arc::new(MemoryBroker::default()),
        store: caudal_store::open("memory:").unwrap(),
        counts: Arc::default(),
        id: SessionId("memory".to_string()),
    };
    let memory = Memory::new(MEMORY_BYTES).unwrap();
    let other = another_stage(&memory).await;
    let theirs = memory.hold("another session", MEMORY_BYTES - (1 << 20));
    let session = cluster.open().await;
    let _worker = cluster.start_with(0, Arc::clone(&cluster.store), &memory);
    let freeing = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(theirs);
    };
    let reading = cluster.read(session, &tables);
    let limit = Duration::from_secs(60);
    let joined = async { tokio::join!(reading, freeing) };
    let (answers, ()) = tokio::time::timeout(limit, joined).await.expect("an answer");
    let [Ok(rows)] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    other.abort();
}
