//! A worker that leaves of its own accord has not died of what it had in hand, however many do so in a row.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caudal_core::{TableId, limits};
use caudal_protocol::{Objects, TableFragment};
use caudal_testing::until;
use caudal_worker::Worker;
use tokio::time::{sleep, timeout};

use crate::harness::Table;
use crate::reluctant::Reluctant;
use crate::takeover::Cluster;
use crate::timeouts::{check, cluster, numbers};

const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Starts a worker, waits until it has something in hand, has it leave; returns when it has.
async fn comes_and_goes(worker: Worker, has_it: impl AsyncFn() -> bool) {
    let stop = worker.stop.clone();
    let serving = tokio::spawn(worker.run());
    let having = async {
        while !has_it().await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(ANSWER_MAX, having).await.expect("it has something in hand");
    stop.raise();
    timeout(ANSWER_MAX, serving).await.expect("it leaves").unwrap().unwrap();
}

async fn records(cluster: &Cluster) -> usize {
    let folder = Objects { session: cluster.id.clone() }.folder();
    cluster.store.list(&format!("{folder}/shards")).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_that_leave_are_not_deaths_of_their_shard() {
    let tables = [numbers()];
    let cluster = cluster("leaves", &tables, caudal_store::open("memory:").unwrap()).await;
    let session = cluster.open().await;
    for number in 0..limits::SHARD_DEATHS_MAX + 3 {
        let before = records(&cluster).await;
        let worker = cluster.worker(number, Arc::clone(&cluster.store), 0);
        if number == 0 {
            // The first has nothing to take over: it is the owner when it has written something.
            session.put(fragment(&tables[0])).await.unwrap();
        }
        comes_and_goes(worker, async || records(&cluster).await > before).await;
    }
    let takeovers = cluster.counts.takeovers.load(Ordering::SeqCst);
    assert!(takeovers as usize > limits::SHARD_DEATHS_MAX, "only {takeovers} takeovers");
    let _last = cluster.start_on(99, Arc::clone(&cluster.store));
    let answered = timeout(ANSWER_MAX, cluster.read(session, &tables)).await;
    check(&tables, answered.expect("the session goes on")).await;
}

/// Workers that wait for room in a shard's queue, with a fragment that was delivered before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_leave_are_not_deaths_of_their_fragment() {
    let tables = [numbers()];
    let cluster = cluster("waits", &tables, caudal_store::open("memory:").unwrap()).await;
    let session = cluster.open().await;
    session.put(fragment(&tables[0])).await.unwrap();
    let folder = Objects { session: cluster.id.clone() }.folder();
    let markers = async || cluster.store.list(&format!("{folder}/marks")).await.unwrap().len();
    for number in 0..limits::FRAGMENT_DEATHS_MAX as usize + 2 {
        let full = Some(".shard.");
        let broker = Arc::new(Reluctant { full, ..Reluctant::new(&cluster.broker) });
        let worker = cluster.worker(number, Arc::clone(&cluster.store), 0);
        let worker = Worker { broker: Arc::clone(&broker) as _, ..worker };
        let waits = async || broker.refused.load(Ordering::SeqCst) > 0;
        if number == 0 {
            // Delivered for the first time, it is run without a marker; its worker is killed.
            let serving = tokio::spawn(worker.run());
            until("it waits for room", waits).await;
            serving.abort();
            continue;
        }
        comes_and_goes(worker, waits).await;
        assert_eq!(markers().await, 0, "its marker is gone with it");
    }
    let _last = cluster.start_on(99, Arc::clone(&cluster.store));
    let answered = timeout(ANSWER_MAX, cluster.read(session, &tables)).await;
    check(&tables, answered.expect("the session goes on")).await;
}

/// The first fragment of a table, as it will come once more.
fn fragment(table: &Table) -> TableFragment {
    TableFragment::new(TableId(0), 0, table.fragments[0].clone())
}
