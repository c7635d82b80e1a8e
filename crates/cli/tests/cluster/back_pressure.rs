//! A fast client and workers that do nothing: the client waits, and nobody's memory grows.
//!
//! What waits is bounded by windows and queues, not by the size of the upload. For the 2 GB of the
//! requirement: `CAUDAL_SCALE=0.6 cargo test -p caudal-cli --test cluster back_pressure -- --nocapture`.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::harness::{Cluster, Data, broker, rss_mb, wait_until};

const GATEWAY_MB_MAX: u64 = 300;
const CLIENT_MB_MAX: u64 = 300;
const BROKER_MB_MAX: u64 = 600;
const HELD_BACK: Duration = Duration::from_secs(8);

#[test]
fn a_client_is_held_back_while_no_worker_works() {
    let scale = std::env::var("CAUDAL_SCALE").unwrap_or_else(|_| "0.15".into());
    let data = Data::of("coffee", &scale);
    let cluster = Cluster::of(2, 4);
    let workers = (1..=4).map(|number| format!("worker-{number}")).collect::<Vec<_>>();
    let mut client = cluster.client("coffee", &data.folder, "out");
    wait_until("the workers have begun", || cluster.records() > 4);
    workers.iter().for_each(|worker| cluster.signal(worker, Signal::STOP));

    let frozen = Instant::now();
    let (mut gateway, mut uploader, mut middle) = (0, 0, 0);
    while frozen.elapsed() < HELD_BACK {
        gateway = gateway.max(cluster.rss_mb("gateway-1")).max(cluster.rss_mb("gateway-2"));
        uploader = uploader.max(rss_mb(client.child.id()));
        middle = middle.max(rss_mb(broker().pid().unwrap()));
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("held back: gateway {gateway} MB, client {uploader} MB, broker {middle} MB");
    assert!(!client.is_done(), "there was not enough to hold back");
    assert!(gateway < GATEWAY_MB_MAX, "a gateway took {gateway} MB");
    assert!(uploader < CLIENT_MB_MAX, "the client took {uploader} MB");
    assert!(middle < BROKER_MB_MAX, "the broker took {middle} MB");

    workers.iter().for_each(|worker| cluster.signal(worker, Signal::CONT));
    client.succeeds();
    data.compare(&cluster.path("out"));
    cluster.nothing_is_left();
}
