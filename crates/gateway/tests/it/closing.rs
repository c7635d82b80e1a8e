//! The end of sessions: by their clients, by janitors, from wherever somebody who died had got to.

use std::time::Duration;

use caudal_broker::{Broker, QueueKind};
use caudal_core::SessionId;
use caudal_gateway::shutdown::{end_sessions, remove_ended, wait_for_gateways};
use caudal_protocol::manifest::{Manifest, Tombstone};
use caudal_protocol::objects::slot;
use caudal_protocol::{Objects, Queues};
use caudal_testing::until;

use crate::support::{Client, Cluster, code, numbers_request};

/// Longer than two looks of a janitor: a busy machine may delay a heartbeat by that much.
const GRACE: Duration = Duration::from_secs(3);

async fn opened(client: &Client) -> SessionId {
    client.open(&numbers_request(1)).await.unwrap().session
}

async fn manifest(cluster: &Cluster, session: &SessionId) -> Manifest {
    let name = Objects { session: session.clone() }.manifest();
    serde_json::from_slice(&cluster.store.get(&name).await.unwrap().unwrap()).unwrap()
}

async fn write_tombstone(cluster: &Cluster, tombstone: &Tombstone) {
    let name = Objects { session: tombstone.session.clone() }.tombstone();
    cluster.store.put(&name, serde_json::to_vec(tombstone).unwrap().into()).await.unwrap();
}

#[tokio::test]
async fn closing_leaves_nothing_and_may_be_repeated() {
    let cluster = Cluster::new();
    let (one, two) = (cluster.gateway().await, cluster.gateway().await);
    let (one, two) = (one.client().await, two.client().await);
    let session = opened(&one).await;
    assert!(!cluster.leftovers().await.is_empty());
    one.close(&session).await.unwrap();
    assert!(cluster.leftovers().await.is_empty(), "at once");
    one.close(&session).await.unwrap();
    two.close(&session).await.unwrap();
    assert_eq!(cluster.store.list("closed").await.unwrap().len(), 1, "it is remembered");
}

#[tokio::test]
async fn an_attached_client_that_closes_leaves_nothing() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let session = opened(&client).await;
    let attached = client.attach(&session).await.unwrap();
    client.close(&session).await.unwrap();
    assert_eq!(code(&attached.end().await), "CDL-8008");
    cluster.wait_until_nothing_is_left().await;
}

#[tokio::test]
async fn a_janitor_finishes_what_a_dead_gateway_began_to_close() {
    let cluster = Cluster::new();
    let node = cluster.gateway().await;
    let client = node.client().await;
    let session = opened(&client).await;
    let tombstone = Tombstone::of(&manifest(&cluster, &session).await, None, i64::MAX);
    let folder = Objects { session: session.clone() }.folder();
    let queues = Queues { session: session.clone() }.all(2, 2);
    // Nobody but the next gateway's janitor will do anything.
    node.kill().await;
    write_tombstone(&cluster, &tombstone).await;
    for steps in 0..3 {
        if steps >= 1 {
            for queue in &queues {
                cluster.broker.delete(queue).await.unwrap();
            }
        }
        if steps >= 2 {
            cluster.store.delete_folder(&folder).await.unwrap();
        }
        assert!(!cluster.leftovers().await.is_empty(), "after {steps} steps");
        let node = cluster.gateway().await;
        cluster.wait_until_nothing_is_left().await;
        node.kill().await;
        // As it was before.
        for queue in &queues {
            cluster.broker.declare(queue, QueueKind::Work { messages_max: 1 }).await.unwrap();
        }
        cluster.store.put(&format!("{folder}/manifest"), "{}".into()).await.unwrap();
        cluster.store.put(&slot(0), session.0.clone().into()).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_whose_client_is_gone_is_closed_after_the_grace_period() {
    let cluster = Cluster::new();
    let node = cluster.gateway_with(|settings| settings.grace = GRACE).await;
    let client = node.client().await;
    let session = opened(&client).await;
    let mut attached = client.attach(&session).await.unwrap();
    attached.next().await.unwrap();
    tokio::time::sleep(GRACE * 2).await;
    assert!(!cluster.leftovers().await.is_empty(), "its client is there");
    drop(attached);
    cluster.wait_until_nothing_is_left().await;
    assert_eq!(code(&client.attach(&session).await.err().unwrap()), "CDL-8012");
}

#[tokio::test]
async fn a_session_that_nobody_ever_attached_to_is_closed_too() {
    let cluster = Cluster::new();
    let node = cluster.gateway_with(|settings| settings.grace = GRACE).await;
    opened(&node.client().await).await;
    cluster.wait_until_nothing_is_left().await;
}

#[tokio::test]
async fn all_gateways_may_be_away_for_longer_than_the_grace_period() {
    let cluster = Cluster::new();
    let node = cluster.gateway_with(|settings| settings.grace = GRACE).await;
    let client = node.client().await;
    let session = opened(&client).await;
    let attached = client.attach(&session).await.unwrap();
    node.kill().await;
    assert_eq!(code(&attached.end().await), "no code", "it was cut off");
    tokio::time::sleep(GRACE * 2).await;
    let back = cluster.gateway_with(|settings| settings.grace = GRACE).await;
    let client = back.client().await;
    client.attach(&session).await.expect("what nobody watched was not closed");
}

#[tokio::test]
async fn a_place_that_no_session_came_to_is_freed() {
    let cluster = Cluster::new();
    cluster.store.put(&slot(3), "0".repeat(32).into()).await.unwrap();
    let node = cluster.gateway_with(|settings| settings.grace = GRACE).await;
    let client = node.client().await;
    let session = opened(&client).await;
    let _attached = client.attach(&session).await.unwrap();
    until("its place is free", async || cluster.store.get(&slot(3)).await.unwrap().is_none()).await;
    assert_eq!(cluster.store.list("slots").await.unwrap().len(), 1, "the other is kept");
}

#[tokio::test]
async fn an_old_tombstone_goes_after_what_a_sleeper_brought_back() {
    let cluster = Cluster::new();
    let client = cluster.gateway().await.client().await;
    let session = opened(&client).await;
    let manifest = manifest(&cluster, &session).await;
    client.close(&session).await.unwrap();
    let queue = Queues { session: session.clone() }.map();
    cluster.broker.declare(&queue, QueueKind::Work { messages_max: 1 }).await.unwrap();
    write_tombstone(&cluster, &Tombstone::of(&manifest, None, 0)).await;
    let _sweeping = cluster.gateway().await;
    until("the tombstone is swept", async || {
        cluster.store.list("closed").await.unwrap().is_empty()
    })
    .await;
    assert!(cluster.leftovers().await.is_empty());
}

#[tokio::test]
async fn sessions_end_with_their_cluster_and_clients_are_told() {
    let cluster = Cluster::new();
    let node = cluster.gateway().await;
    let client = node.client().await;
    let session = opened(&client).await;
    let attached = client.attach(&session).await.unwrap();
    let others = [String::from("of-another-cluster")];
    let ended = end_sessions(&cluster.store, Some(&others)).await.unwrap();
    assert!(ended.is_empty(), "{ended:?} belong to others");
    let ours = [String::from("gateway-1")];
    let ended = end_sessions(&cluster.store, Some(&ours)).await.unwrap();
    assert_eq!(ended, std::slice::from_ref(&session));
    let (end, waited) = tokio::join!(attached.end(), wait_for_gateways(&cluster.store, &ended));
    waited.unwrap();
    assert_eq!(code(&end), "CDL-8025");
    cluster.wait_until_nothing_is_left().await;

    // Where no gateway is left to do it.
    let session = client.open(&numbers_request(2)).await.unwrap().session;
    node.kill().await;
    let ended = end_sessions(&cluster.store, None).await.unwrap();
    assert_eq!(ended, [session]);
    remove_ended(&cluster.store, &ended).await.unwrap();
    let left = [cluster.store.list("sessions").await, cluster.store.list("slots").await];
    assert_eq!(left.map(Result::unwrap), [vec![], vec![]] as [Vec<String>; 2]);
}
