//! Every fragment arrives, under its number, whatever becomes of the gateways.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits::PUT_WINDOW_FRAGMENTS;

use crate::cluster::Cluster;
use crate::gateway::{Faults, Gateway, refusal};
use crate::run::{assert_all_arrived, run, settings, simple_answer, simple_query};

fn dead(gateways: &[Gateway]) -> usize {
    gateways.iter().filter(|gateway| gateway.is_dead()).count()
}

fn cluster() -> Arc<Cluster> {
    Cluster::with_queries(vec![simple_query(5)])
}

#[tokio::test]
async fn a_client_never_sends_more_than_a_window_ahead() {
    let cluster = cluster();
    let gateway = Gateway::start(&cluster, Faults::default());
    let told = run(&cluster, &settings(std::slice::from_ref(&gateway))).await.unwrap();
    assert_eq!(told.rows, [simple_answer(5)]);
    assert_all_arrived(&cluster);
    let state = cluster.state();
    assert_eq!(state.unacked_max, PUT_WINDOW_FRAGMENTS);
    assert!(state.times(0).iter().all(|times| *times == 1));
    assert_eq!((state.opens, state.closes, state.ends.len()), (1, 1, 1));
    let rows = state.ends[0].rows.expect("what became of them");
    assert!(rows.sent > 0 && rows.rejected == 0, "{rows:?}");
}

#[tokio::test]
async fn the_next_gateway_gets_what_the_dead_one_had_not_acknowledged() {
    let cluster = cluster();
    let dies_at_fragment = Some(PUT_WINDOW_FRAGMENTS + 7);
    let gateways = Gateway::two(&cluster, &Faults { dies_at_fragment, ..Faults::default() });
    let told = run(&cluster, &settings(&gateways)).await.unwrap();
    assert_eq!(dead(&gateways), 1);
    assert_eq!(told.rows, [simple_answer(5)]);
    assert_all_arrived(&cluster);
    let state = cluster.state();
    let twice = state.times(0).iter().filter(|times| **times == 2).count();
    assert!((7..=PUT_WINDOW_FRAGMENTS).contains(&twice), "{twice} came twice");
    assert!(state.times(0).iter().all(|times| *times <= 2));
    assert_eq!((state.nonces.len(), state.attaches.len(), state.closes), (1, 2, 1));
}

#[tokio::test]
async fn fragments_whose_acknowledgements_are_lost_are_sent_again() {
    let cluster = cluster();
    let dies_at_fragment = Some(PUT_WINDOW_FRAGMENTS);
    let faults = Faults { dies_at_fragment, withholds_acks: true, ..Faults::default() };
    let gateways = Gateway::two(&cluster, &faults);
    run(&cluster, &settings(&gateways)).await.unwrap();
    assert_eq!(dead(&gateways), 1);
    assert_all_arrived(&cluster);
    let times = cluster.state().times(0);
    assert_eq!(times.iter().filter(|times| **times == 2).count(), PUT_WINDOW_FRAGMENTS);
}

#[tokio::test]
async fn a_gateway_that_comes_back_is_found() {
    let cluster = cluster();
    let faults = Faults { dies_at_fragment: Some(3), ..Faults::default() };
    let dying = Gateway::start(&cluster, faults);
    let settings = settings(std::slice::from_ref(&dying));
    let revived = async {
        while !dying.is_dead() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The dead one's socket may take a moment to go.
        let listener = loop {
            match TcpListener::bind(dying.address) {
                Ok(listener) => break listener,
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        };
        Gateway::start_on(listener, &cluster, Faults::default(), None)
    };
    let (ran, _revived) = tokio::join!(run(&cluster, &settings), revived);
    ran.unwrap();
    assert_all_arrived(&cluster);
    assert!(cluster.state().times(0).contains(&2));
}

#[tokio::test]
async fn an_end_that_was_not_heard_is_said_again() {
    let cluster = cluster();
    let busy = refusal(tonic::Code::Unavailable, "CDL-8009", "leaving");
    cluster.state().refusals.extend([("end", busy.clone()), ("end", busy)]);
    let gateways = Gateway::two(&cluster, &Faults::default());
    run(&cluster, &settings(&gateways)).await.unwrap();
    assert_all_arrived(&cluster);
    assert!(cluster.state().refusals.is_empty());
}
