//! Several at once, and all at once.

use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{Client, Cluster, Data, TIMEOUT, wait_until};

/// Shards have written down some of what came in, and there is more to come.
pub fn upload_has_begun(cluster: &Cluster, client: &mut Client) {
    wait_until("shards write records", || {
        assert!(!client.is_done(), "over before it began: {}", client.said());
        cluster.records() >= 3
    });
}

#[test]
fn two_workers_and_a_gateway_at_once() {
    let data = Data::of("coffee", "0.02");
    let mut cluster = Cluster::of(2, 4);
    let mut client = cluster.client("coffee", &data.folder, "out");
    upload_has_begun(&cluster, &mut client);
    for name in ["worker-1", "worker-2", "gateway-1"] {
        cluster.kill(name);
    }
    client.succeeds();
    data.compare(&cluster.path("out"));
    cluster.nothing_is_left();
}

#[test]
fn all_workers_at_once() {
    let data = Data::of("coffee", "0.02");
    let mut cluster = Cluster::of(1, 3);
    let mut client = cluster.client("coffee", &data.folder, "out");
    upload_has_begun(&cluster, &mut client);
    let names = ["worker-1", "worker-2", "worker-3"];
    names.iter().for_each(|name| cluster.kill(name));
    names.iter().for_each(|name| cluster.restart(name));
    client.succeeds();
    data.compare(&cluster.path("out"));
    cluster.nothing_is_left();
}

#[test]
fn a_client_that_is_killed_leaves_nothing() {
    let data = Data::of("coffee", "0.02");
    let mut cluster = Cluster::new();
    cluster.gateway_options = ["--grace", "3"].map(String::from).to_vec();
    cluster.start_gateway("");
    cluster.start_worker("worker-1", "");
    let mut client = cluster.client("coffee", &data.folder, "out");
    upload_has_begun(&cluster, &mut client);
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    cluster.nothing_is_left();
}

#[test]
fn all_gateways_gone_for_longer_than_the_grace_period() {
    let data = Data::of("coffee", "0.02");
    let mut cluster = Cluster::new();
    cluster.gateway_options = ["--grace", "4"].map(String::from).to_vec();
    cluster.start_gateway("");
    cluster.start_gateway("");
    cluster.start_worker("worker-1", "");
    let mut client = cluster.client("coffee", &data.folder, "out");
    upload_has_begun(&cluster, &mut client);
    cluster.kill("gateway-1");
    cluster.kill("gateway-2");
    std::thread::sleep(Duration::from_secs(6));
    cluster.restart("gateway-1");
    cluster.restart("gateway-2");
    client.succeeds();
    data.compare(&cluster.path("out"));
    cluster.nothing_is_left();
}

/// One that comes late helps at once.
#[test]
fn a_worker_that_comes_late_takes_work() {
    let data = Data::of("coffee", "0.03");
    let mut cluster = Cluster::of(1, 1);
    let mut client = cluster.client("coffee", &data.folder, "out");
    upload_has_begun(&cluster, &mut client);
    cluster.start_worker("late", "map.before_publish=sleep:0");
    let hit = cluster.path("hits").join("map.before_publish");
    let began = std::time::Instant::now();
    wait_until("it maps a fragment", || hit.exists() || client.is_done());
    assert!(hit.exists(), "the late one had nothing to do");
    println!("a late worker had its first fragment after {:?}", began.elapsed());
    client.succeeds();
    data.compare(&cluster.path("out"));
}

#[test]
fn a_worker_that_is_told_to_leave_hands_over() {
    let data = Data::of("coffee", "0.02");
    let mut cluster = Cluster::of(1, 3);
    let mut client = cluster.client("coffee", &data.folder, "out");
    upload_has_begun(&cluster, &mut client);
    cluster.signal("worker-1", Signal::TERM);
    let began = std::time::Instant::now();
    let worker = cluster.nodes.get_mut("worker-1").unwrap();
    assert!(worker.child.wait().unwrap().success());
    assert!(began.elapsed() < TIMEOUT.min(Duration::from_secs(5)), "{:?}", began.elapsed());
    client.succeeds();
    data.compare(&cluster.path("out"));
    let redelivered = cluster.sum_of("redelivered");
    assert!(redelivered < 200, "{redelivered} messages came again");
    cluster.nothing_is_left();
}
