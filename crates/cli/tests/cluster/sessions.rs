//! Many sessions: equal to one process, limited, and gone when they are over.

use crate::harness::{Cluster, Data, caudal};

#[test]
fn every_suite_equals_one_process() {
    let cluster = Cluster::of(2, 4);
    for (suite, scale) in
        [("steam", "0.001"), ("movies", "0.005"), ("books", "0.002"), ("coffee", "0.004")]
    {
        let data = Data::of(suite, scale);
        cluster.client(suite, &data.folder, suite).succeeds();
        data.compare(&cluster.path(suite));
    }
    cluster.nothing_is_left();
}

#[test]
fn real_extracts_equal_one_process() {
    let Some(shared) = caudal_testing::shared("a cluster on real data", "data") else { return };
    let cluster = Cluster::of(2, 4);
    for (suite, folder) in [
        ("steam", "steam"),
        ("movies", "movies"),
        ("books", "books"),
        ("coffee", "coffee"),
        ("coffee", "coffee-10k"),
    ] {
        let data = Data::at(suite, &shared.join(folder));
        cluster.client(suite, &data.folder, folder).succeeds();
        data.compare(&cluster.path(folder));
    }
    cluster.nothing_is_left();
}

#[test]
fn clients_at_once_and_one_too_many() {
    let data = Data::of("coffee", "0.004");
    let mut cluster = Cluster::new();
    cluster.gateway_options = ["--sessions", "2"].map(String::from).to_vec();
    cluster.start_gateway("");
    cluster.start_gateway("");
    // Without a worker sessions stay open.
    let first = cluster.client("coffee", &data.folder, "first");
    let second = cluster.client("coffee", &data.folder, "second");
    crate::harness::wait_until("both are open", || {
        std::fs::read_dir(cluster.path("store/sessions")).is_ok_and(|all| all.count() == 2)
    });
    let output = caudal()
        .args(["query", "-c", "SELECT 1", "--gateway", &cluster.gateways[0]])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("sessions") && said.contains("CDL-80"), "{said}");
    cluster.start_worker("worker-1", "");
    for (client, out) in [(first, "first"), (second, "second")] {
        client.succeeds();
        data.compare(&cluster.path(out));
    }
    cluster.nothing_is_left();
}
