//! A frozen worker that holds shards: another takes over, the thawed one is fenced.

use rustix::process::Signal;

use crate::harness::{Cluster, Data, wait_until};

#[test]
fn a_frozen_owner_is_succeeded_and_its_thawing_harms_nothing() {
    let data = Data::of("coffee", "0.01");
    let mut cluster = Cluster::with_failpoints((1, ""), (1, "shard.before_journal@2=stop"));
    let client = cluster.client("coffee", &data.folder, "out");
    let hit = cluster.path("hits").join("shard.before_journal");
    wait_until("the only worker freezes with a shard in hand", || hit.exists());
    // Longer than the broker waits for a sign of life: it gives the shards to the other.
    cluster.start_worker("worker-2", "");
    wait_until("another takes over", || cluster.said("shard taken over") > 0);
    cluster.signal("worker-1", Signal::CONT);
    wait_until("the thawed one is fenced", || {
        let said = std::fs::read_to_string(cluster.log_path("worker-1")).unwrap();
        said.contains("subscription lost, starting anew")
    });
    client.succeeds();
    data.compare(&cluster.path("out"));
    cluster.nothing_is_left();
}
