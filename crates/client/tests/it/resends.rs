//! A table is sent again when that is asked for: the same rows under the same numbers.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use caudal_client::Remote;
use caudal_core::Coded;
use caudal_protocol::calls::Status;

use crate::cluster::Cluster;
use crate::gateway::{Faults, Gateway};
use crate::run::{ROWS, assert_all_arrived, query, request, run_with, settings, upload};

/// Asks, once the table has been sent so many times, for one time more.
async fn ask_again(cluster: &Cluster, resend: u32) {
    let sent = async {
        while cluster.state().ends.len() < resend as usize {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), sent).await.expect("the table is sent");
    cluster.status.send_replace(Status { resend, ..Status::default() });
}

#[tokio::test]
async fn every_fragment_comes_again_as_it_was_as_often_as_it_is_asked_for() {
    // Its only query is never answered.
    let cluster = Cluster::with_queries(vec![query([])]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let remote = Remote::open(&settings(&gateways), &request(&cluster)).await.unwrap();
    let (remote, (_folder, upload)) = (Arc::new(remote), upload());
    let asking = async {
        ask_again(&cluster, 1).await;
        ask_again(&cluster, 2).await;
        ask_again(&cluster, 3).await;
        while cluster.state().ends.len() < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // A gateway that knows less than others asks for nothing.
        cluster.status.send_replace(Status { resend: 1, ..Status::default() });
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    tokio::select! {
        ran = run_with(&remote, upload) => panic!("{ran:?}"),
        asked = tokio::time::timeout(Duration::from_secs(60), asking) => asked.unwrap(),
    }
    assert_all_arrived(&cluster);
    let state = cluster.state();
    assert!(state.times(0).iter().all(|times| *times == 4), "{:?}", state.times(0));
    assert_eq!((state.changed, state.ends.len(), state.rows(0)), (0, 4, ROWS));
}

#[tokio::test]
async fn a_file_that_has_changed_is_not_sent_again() {
    let cluster = Cluster::with_queries(vec![query([])]);
    let gateways = [Gateway::start(&cluster, Faults::default())];
    let remote = Remote::open(&settings(&gateways), &request(&cluster)).await.unwrap();
    let (remote, (folder, upload)) = (Arc::new(remote), upload());
    let asking = async {
        while cluster.state().ends.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let file = OpenOptions::new().append(true).open(folder.path().join("t.csv"));
        file.unwrap().write_all(b"7\n").unwrap();
        ask_again(&cluster, 1).await;
        std::future::pending::<()>().await;
    };
    let running = async {
        tokio::select! {
            ran = run_with(&remote, upload) => ran,
            () = asking => unreachable!(),
        }
    };
    let ran = tokio::time::timeout(Duration::from_secs(60), running).await.unwrap();
    assert_eq!(ran.unwrap_err().code(), "CDL-1013");
    let state = cluster.state();
    assert!(state.times(0).iter().all(|times| *times == 1), "{:?}", state.times(0));
}
