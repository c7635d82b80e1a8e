//! A broker that refuses one worker is that worker's trouble, not the end of the session.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caudal_core::limits;
use caudal_worker::Worker;

use crate::reluctant::Reluctant;
use crate::timeouts::{check, cluster, numbers};

#[tokio::test]
async fn a_worker_that_is_not_let_in_waits_until_it_is() {
    let tables = [numbers()];
    let cluster = cluster("refused", &tables, caudal_store::open("memory:").unwrap()).await;
    let session = cluster.open().await;
    let reluctant = Reluctant::new(&cluster.broker);
    // More than a worker tries what fails, for both of its roles.
    reluctant.refusals.store(2 * limits::WORKER_RETRIES_MAX + 4, Ordering::SeqCst);
    let reluctant = Arc::new(reluctant);
    let worker = cluster.worker(0, Arc::clone(&cluster.store), 0);
    let worker = Worker { broker: Arc::clone(&reluctant) as _, ..worker };
    let serving = tokio::spawn(worker.run());
    let answered = tokio::time::timeout(Duration::from_secs(60), cluster.read(session, &tables));
    check(&tables, answered.await.expect("the session goes on")).await;
    assert_eq!(reluctant.refusals.load(Ordering::SeqCst), 0, "it was refused as often as meant");
    serving.abort();
}
