//! A client that is there: told how its session is, and passed from gateway to gateway.

use std::time::Duration;

use caudal_core::{SessionId, ShardId, codes};
use caudal_protocol::calls::Status;
use caudal_protocol::manifest::{Claim, Manifest, Tombstone};
use caudal_protocol::{Failure, Objects, Queues};

use crate::support::{Client, Cluster, Exchange, code, numbers_request};

async fn next_status(attached: &mut Exchange) -> Status {
    attached.next_as().await.unwrap()
}

async fn claim(cluster: &Cluster, session: &SessionId, worker: &str, refusal: Option<&str>) {
    let name = Objects { session: session.clone() }.claim(worker);
    let claim = Claim { worker: worker.to_string(), refusal: refusal.map(str::to_string) };
    cluster.store.put(&name, serde_json::to_vec(&claim).unwrap().into()).await.unwrap();
}

async fn opened(client: &Client) -> SessionId {
    client.open(&numbers_request(1)).await.unwrap().session
}

#[tokio::test]
async fn a_client_is_told_what_its_session_waits_for() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let session = opened(&client).await;
    let mut attached = client.attach(&session).await.unwrap();
    let status = next_status(&mut attached).await;
    assert_eq!(status.waiting_for, ["no worker has claimed the session"]);
    claim(&cluster, &session, "old", Some("it is of version 0")).await;
    let status = next_status(&mut attached).await;
    assert_eq!(status.workers, 0);
    assert_eq!(status.waiting_for[1], "worker old does not take part: it is of version 0");
    let queues = Queues { session: session.clone() };
    let map = queues.map();
    let working = cluster.broker().consume(&map, 1).await.unwrap();
    let mut owning = vec![];
    for shard in [ShardId(0), ShardId(1)] {
        owning.push(cluster.broker().consume(&queues.shard(shard), 1).await.unwrap());
    }
    claim(&cluster, &session, "old", None).await;
    let status = next_status(&mut attached).await;
    assert_eq!((status.workers, status.waiting_for), (1, vec![]), "it came back as a new one");
    claim(&cluster, &session, "other", None).await;
    assert_eq!(next_status(&mut attached).await.workers, 2);
    drop(working);
    let status = next_status(&mut attached).await;
    let deserted = "no worker is at work: all that had claimed the session are gone";
    assert_eq!(status.waiting_for, [deserted]);
    let _working = cluster.broker().consume(&map, 1).await.unwrap();
    assert!(next_status(&mut attached).await.waiting_for.is_empty());
    owning.pop();
    assert_eq!(next_status(&mut attached).await.waiting_for, ["no worker serves shard 1"]);
}

#[tokio::test]
async fn a_session_that_no_worker_takes_up_fails() {
    let cluster = Cluster::new();
    let timeout = Duration::from_millis(500);
    let client = cluster.gateway_with(|settings| settings.unclaimed_max = timeout).await;
    let client = client.client().await;
    let session = opened(&client).await;
    let mut attached = client.attach(&session).await.unwrap();
    assert!(next_status(&mut attached).await.failure.is_none());
    let failure = next_status(&mut attached).await.failure.expect("it has failed");
    assert_eq!(failure.code, "CDL-8011");
    assert_eq!(code(&attached.end().await), "CDL-8011");
    cluster.wait_until_nothing_is_left().await;
    assert_eq!(code(&client.attach(&session).await.err().unwrap()), "CDL-8011");
}

#[tokio::test]
async fn a_failure_that_a_worker_wrote_down_reaches_the_client() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let session = opened(&client).await;
    let mut attached = client.attach(&session).await.unwrap();
    next_status(&mut attached).await;
    let objects = Objects { session: session.clone() };
    let manifest = cluster.store.get(&objects.manifest()).await.unwrap().unwrap();
    let manifest: Manifest = serde_json::from_slice(&manifest).unwrap();
    let failure = Failure::new(codes::RECORD_UNREADABLE, "fragment t0/3 kills");
    let tombstone = Tombstone::of(&manifest, Some(failure.clone()), 0);
    let body = serde_json::to_vec(&tombstone).unwrap();
    cluster.store.create(&objects.tombstone(), body.into()).await.unwrap();
    let end = attached.end().await;
    assert_eq!((code(&end), end.message()), ("CDL-5006", "fragment t0/3 kills"));
    cluster.wait_until_nothing_is_left().await;
}

#[tokio::test]
async fn a_gateway_lets_go_of_a_client_that_is_at_another() {
    let cluster = Cluster::new();
    let one = cluster.gateway_with(|settings| settings.name = "one".into()).await;
    let two = cluster.gateway_with(|settings| settings.name = "two".into()).await;
    let (one, two) = (one.client().await, two.client().await);
    let session = opened(&one).await;
    let first = one.attach(&session).await.unwrap();
    let mut second = two.attach(&session).await.unwrap();
    next_status(&mut second).await;
    assert_eq!(code(&first.end().await), "CDL-8009");
    let leases = cluster.store.list(&Objects { session: session.clone() }.leases()).await.unwrap();
    assert_eq!(leases.len(), 1, "the old one is gone: {leases:?}");
    let back = one.attach(&session).await.unwrap();
    assert_eq!(code(&second.end().await), "CDL-8009");
    drop(back);
}

#[tokio::test]
async fn a_gateway_that_leaves_sends_its_clients_to_another() {
    let cluster = Cluster::new();
    let (leaving, staying) = (cluster.gateway().await, cluster.gateway().await);
    let client = leaving.client().await;
    let session = opened(&client).await;
    let attached = client.attach(&session).await.unwrap();
    let command = caudal_protocol::calls::StreamCommand::Result {
        session: session.clone(),
        query: caudal_core::QueryId(0),
    };
    let result = client.exchange(&command).await.unwrap();
    let messages =
        crate::support::put_messages(&session, 0, vec![(0, crate::support::numbers([1]))]);
    let idle =
        futures::StreamExt::chain(futures::stream::iter(messages), futures::stream::pending());
    let mut put = client.put_stream(idle).await.unwrap();
    put.message().await.unwrap().expect("an acknowledgement");
    let left = leaving.leave();
    let (attached, result, put, ()) =
        tokio::join!(attached.end(), result.end(), put.message(), left);
    assert_eq!(code(&attached), "CDL-8010");
    assert_eq!(code(&result), "CDL-8010");
    assert_eq!(code(&put.unwrap_err()), "CDL-8010");
    staying.client().await.attach(&session).await.expect("the session is still there");
}
