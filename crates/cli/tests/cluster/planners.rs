//! Gateways as they are deployed, and what a tenant writes to end them: each plans in processes of its own.

use std::fs;

use crate::harness::{Client, Cluster, Data, caudal, wait_until};

/// A query with an allocation that no machine can make, while a constant is folded.
const TOO_LARGE: &str =
    "SELECT length(repeat(arrow_cast('x', 'LargeUtf8'), 4000000000000000000)) AS n";

#[test]
fn no_query_ends_a_gateway_and_none_is_tried_twice() {
    let mut cluster = Cluster::of(2, 1);
    let mut query = caudal();
    query.args(["query", "--gateway", &cluster.gateways.join(","), "-c", TOO_LARGE]);
    let mut client = Client::start(query, &cluster.path("large.log"));
    assert_eq!(client.wait().code(), Some(1), "{}", client.said());
    // By its bound, in the planner. What a planner dies of is tried in `crates/gateway/src/planning`.
    assert!(client.said().contains("error[CDL-3005]: query: "), "{}", client.said());
    for name in ["gateway-1", "gateway-2"] {
        let child = &mut cluster.nodes.get_mut(name).unwrap().child;
        assert!(child.try_wait().unwrap().is_none(), "{name} runs");
    }
    cluster.check("coffee", &Data::of("coffee", "0.004"));
}

#[test]
fn planners_end_with_a_gateway_that_is_killed() {
    let mut cluster = Cluster::of(1, 1);
    cluster.check("coffee", &Data::of("coffee", "0.004"));
    let tasks = format!("/proc/{}/task", cluster.nodes["gateway-1"].child.id());
    let threads = fs::read_dir(tasks).unwrap().map(|thread| thread.unwrap().path());
    let planners: String =
        threads.map(|thread| fs::read_to_string(thread.join("children")).unwrap()).collect();
    assert!(!planners.trim().is_empty(), "it has planned");
    cluster.kill("gateway-1");
    let is_running = |pid: &str| fs::exists(format!("/proc/{pid}")).unwrap();
    wait_until("its planners are gone", || !planners.split_whitespace().any(is_running));
}
