//! Answers come once and in order, however their messages come.

use std::sync::Arc;

use caudal_client::Remote;
use caudal_core::codes;
use caudal_protocol::Failure;
use caudal_protocol::calls::{ResultWhat, Status as SessionStatus};
use caudal_testing::until;

use crate::cluster::Cluster;
use crate::gateway::{Faults, Gateway, refusal};
use crate::run::{
    SHARD, assert_all_arrived, part, query, request, run, run_opened, settings, simple_answer,
    simple_query,
};

fn failure(message: &str) -> Failure {
    Failure::new(codes::DATA, message)
}

#[tokio::test]
async fn parts_may_be_repeated_reordered_and_of_several_attempts() {
    let messages = [
        part(2, 1, 0, 1, None),
        part(1, 7, 1, 2, None),
        part(1, 8, 0, 3, None),
        part(2, 2, 0, 1, None),
        (ResultWhat::End { source: SHARD, count: 3 }, None),
        part(1, 7, 1, 2, None),
        part(1, 7, 0, 2, None),
        part(2, 1, 0, 1, Some(3)),
        part(0, 4, 0, 1, None),
    ];
    let cluster = Cluster::with_queries(vec![query(messages)]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let told = run(&cluster, &settings(&gateways)).await.unwrap();
    assert_eq!(told.rows, [[0, 10, 11, 20]]);
    assert_eq!(told.done, [Some(Ok(()))]);
}

#[tokio::test]
async fn an_answer_goes_on_at_another_gateway() {
    let cluster = Cluster::with_queries(vec![simple_query(9), simple_query(4)]);
    let faults = Faults { dies_at_result: Some(6), loses_result_acks: true, ..Faults::default() };
    let gateways = Gateway::two(&cluster, &faults);
    let told = run(&cluster, &settings(&gateways)).await.unwrap();
    assert_eq!(gateways.iter().filter(|gateway| gateway.is_dead()).count(), 1);
    assert!(cluster.state().results_sent > 13, "some came twice");
    assert_eq!(told.rows, [simple_answer(9), simple_answer(4)]);
    assert_all_arrived(&cluster);
}

#[tokio::test]
async fn a_query_that_fails_leaves_its_neighbours_alone() {
    let failed = (ResultWhat::Failed { failure: failure("division by zero") }, None);
    let cluster = Cluster::with_queries(vec![query([failed]), simple_query(3)]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let told = run(&cluster, &settings(&gateways)).await.unwrap();
    assert_eq!(told.done, [Some(Err(failure("division by zero"))), Some(Ok(()))]);
    assert_eq!(told.rows[1], simple_answer(3));
    assert_all_arrived(&cluster);
    assert_eq!(cluster.state().closes, 1);
}

#[tokio::test]
async fn a_session_that_fails_ends_the_run() {
    // Its only query is never answered.
    let cluster = Cluster::with_queries(vec![query([])]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let failure = Some(failure("fragment t0/3 has killed three workers"));
    cluster.status.send_replace(SessionStatus { failure, ..SessionStatus::default() });
    let error = run(&cluster, &settings(&gateways)).await.unwrap_err();
    assert_eq!(error.to_string(), "fragment t0/3 has killed three workers");
    assert_eq!(caudal_core::Coded::code(&error), "CDL-3002");
}

#[tokio::test]
async fn a_client_that_waits_says_for_what() {
    let cluster = Cluster::with_queries(vec![query([])]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let waiting_for = vec!["no worker has claimed the session".to_string()];
    let status = SessionStatus { waiting_for: waiting_for.clone(), ..SessionStatus::default() };
    cluster.status.send_replace(status);
    let remote = Remote::open(&settings(&gateways), &request(&cluster)).await.unwrap();
    let remote = Arc::new(remote);
    let told = tokio::select! {
        told = caudal_client::Service::waiting_for(remote.as_ref(), &[]) => told.unwrap(),
        ran = run_opened(&remote) => panic!("{ran:?}"),
    };
    assert_eq!(told, waiting_for);
    cluster.status.send_replace(SessionStatus::default());
    let told = caudal_client::Service::waiting_for(remote.as_ref(), &told).await.unwrap();
    assert_eq!(told, [""; 0]);
}

#[tokio::test]
async fn a_gateway_that_leaves_is_left() {
    let cluster = Cluster::with_queries(vec![query([])]);
    let gateways = Gateway::two(&cluster, &Faults::default());
    let remote = Remote::open(&settings(&gateways), &request(&cluster)).await.unwrap();
    wait_for_attaches(&cluster, 1).await;
    let leaving = refusal(tonic::Code::Unavailable, "CDL-8009", "the gateway is leaving");
    cluster.dismissed.send_replace(Some(leaving));
    wait_for_attaches(&cluster, 2).await;
    remote.close().await;
    let state = cluster.state();
    assert_ne!(state.attaches[0], state.attaches[1]);
    assert_eq!(state.closes, 1);
}

async fn wait_for_attaches(cluster: &Cluster, attaches: usize) {
    until("it attaches", async || cluster.state().attaches.len() >= attaches).await;
}

#[tokio::test]
async fn a_stream_that_is_superseded_is_opened_again_where_it_was() {
    let cluster = Cluster::with_queries(vec![simple_query(2)]);
    let gateways = Gateway::two(&cluster, &Faults::default());
    let remote = Remote::open(&settings(&gateways), &request(&cluster)).await.unwrap();
    wait_for_attaches(&cluster, 1).await;
    let let_go = refusal(tonic::Code::Aborted, "CDL-8009", "the client has come by another way");
    cluster.dismissed.send_replace(Some(let_go));
    wait_for_attaches(&cluster, 2).await;
    let attaches = cluster.state().attaches.clone();
    assert_eq!(attaches[0], attaches[1]);
    drop(remote);
}
