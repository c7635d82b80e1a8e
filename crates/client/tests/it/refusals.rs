//! Behaviour of a client that is refused, or has nobody to answer it.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use caudal_client::Remote;
use caudal_client::remote::{self, Settings};
use caudal_core::error::Kind;
use caudal_core::{Coded, SessionId, codes};
use caudal_protocol::calls::{HINT_HEADER, RETRY_MS_HEADER};
use tonic::Code;

use crate::cluster::Cluster;
use crate::gateway::{Faults, Gateway, refusal};
use crate::run::{request, run, settings, simple_answer, simple_query};

#[tokio::test]
async fn a_pause_that_a_gateway_asks_for_is_kept() {
    let cluster = Cluster::with_queries(vec![simple_query(2)]);
    let mut busy = refusal(Code::Unavailable, "CDL-8009", "the broker is away");
    busy.metadata_mut().insert(RETRY_MS_HEADER, "1500".parse().unwrap());
    cluster.state().refusals.push_back(("open", busy));
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let started = Instant::now();
    let told = run(&cluster, &settings(&gateways)).await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(1500));
    assert!(cluster.state().refusals.is_empty());
    assert_eq!(told.rows, [simple_answer(2)]);
}

#[tokio::test]
async fn a_refusal_is_told_with_its_code_and_hint() {
    let cluster = Cluster::with_queries(vec![simple_query(2)]);
    let mut full = refusal(Code::ResourceExhausted, "CDL-8004", "8 sessions are open, the most");
    let hint = BASE64_STANDARD.encode("try again in 5 s");
    full.metadata_mut().insert(HINT_HEADER, hint.parse().unwrap());
    full.metadata_mut().insert(RETRY_MS_HEADER, "5000".parse().unwrap());
    cluster.state().refusals.push_back(("open", full));
    let gateways = Gateway::two(&cluster, &Faults::default());
    let error = run(&cluster, &settings(&gateways)).await.unwrap_err();
    assert_eq!(error.code(), "CDL-8004");
    assert_eq!(error.to_string(), "8 sessions are open, the most");
    assert_eq!(error.hint().unwrap(), "try again in 5 s");
    assert_eq!(cluster.state().opens, 0);
}

#[tokio::test]
async fn nobody_there_is_told_with_all_that_were_tried() {
    let refusing: Vec<_> = (0..2)
        .map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
        .collect();
    let mut addresses: Vec<_> = refusing.iter().map(ToString::to_string).collect();
    addresses.sort();
    let away_max = Duration::from_secs(1);
    let settings = Settings { away_max, ..Settings::new(addresses.clone()) };
    let error = remote::sessions(&settings).await.unwrap_err();
    assert_eq!(error.code(), "CDL-9001");
    let refused = "Connection refused (os error 111)";
    assert_eq!(
        error.to_string(),
        format!(
            "no gateway has answered for 1 s: {} ({refused}), {} ({refused})",
            addresses[0], addresses[1]
        )
    );
    assert_eq!(error.code().kind(), Kind::Connection);
}

#[tokio::test]
async fn gateways_that_all_go_are_waited_for_and_then_given_up() {
    let cluster = Cluster::with_queries(vec![simple_query(2)]);
    let faults = Faults { dies_at_fragment: Some(20), ..Faults::default() };
    let gateways = [Gateway::start(&cluster, faults)];
    let settings = Settings { away_max: Duration::from_secs(2), ..settings(&gateways) };
    let started = Instant::now();
    let error = run(&cluster, &settings).await.unwrap_err();
    assert!(gateways[0].is_dead());
    assert_eq!(error.code(), "CDL-9001");
    assert!(started.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn the_token_is_shown_with_every_call() {
    let cluster = Cluster::with_queries(vec![simple_query(2)]);
    cluster.state().token = Some("secret".to_string());
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let without = settings(&gateways);
    let error = run(&cluster, &without).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (codes::UNKNOWN_TOKEN, "who are you?"));
    assert_eq!(error.code().kind(), Kind::Connection);
    let with = Settings { token: Some("secret".to_string()), ..without };
    assert_eq!(run(&cluster, &with).await.unwrap().rows, [simple_answer(2)]);
}

#[tokio::test]
async fn sessions_are_listed_and_cancelled() {
    let cluster = Cluster::with_queries(vec![]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let settings = settings(&gateways);
    let sessions = remote::sessions(&settings).await.unwrap();
    assert_eq!(sessions[0].session, SessionId("s-1".to_string()));
    remote::cancel(&settings, sessions[0].session.clone()).await.unwrap();
    assert_eq!(cluster.state().cancels, 1);
}

#[tokio::test]
async fn ending_a_session_is_not_waited_for_long() {
    let cluster = Cluster::with_queries(vec![simple_query(2)]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let remote = Remote::open(&settings(&gateways), &request(&cluster)).await.unwrap();
    gateways[0].kill();
    let started = Instant::now();
    remote.cancel().await;
    assert!(started.elapsed() < Duration::from_secs(5));
}
