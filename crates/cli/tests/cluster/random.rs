//! Nodes killed at random while clients run suites: every answer is that of one process.
//!
//! ```text
//! CAUDAL_KILLS=100 CAUDAL_SEED=1 cargo test -p caudal-cli --test cluster random -- --nocapture
//! ```

use std::sync::atomic::Ordering;
use std::time::Duration;

use fastrand::Rng;

use crate::harness::Cluster;
use crate::load::{beside, number};

const KILLS: usize = 12;
const CLIENTS: usize = 4;

#[test]
fn nodes_killed_at_random_change_no_answer() {
    let (kills, seed) = (number("CAUDAL_KILLS", KILLS), number("CAUDAL_SEED", 1));
    let mut cluster = Cluster::of(2, 4);
    let gateways = cluster.gateways.join(",");
    let folder = cluster.folder.path().to_path_buf();
    let mut killed = 0;
    let answered = beside(CLIENTS, &gateways, &folder, |is_over| {
        let mut rng = Rng::with_seed(seed as u64);
        while killed < kills || (killed < 10 * kills && !faults_happened(&cluster)) {
            killed += 1;
            std::thread::sleep(Duration::from_millis(rng.u64(100..800)));
            let names: Vec<String> = cluster.nodes.keys().cloned().collect();
            let victim = &names[rng.usize(..names.len())];
            cluster.kill(victim);
            std::thread::sleep(Duration::from_millis(rng.u64(0..300)));
            cluster.restart(victim);
            if is_over.load(Ordering::Relaxed) {
                break;
            }
        }
    });
    let (takeovers, redelivered) = (cluster.said("shard taken over"), redeliveries(&cluster));
    let duplicates = cluster.sum_of("duplicates");
    println!(
        "seed {seed}: {killed} kills, {answered} runs exact, {takeovers} takeovers, \
         {redelivered} redeliveries, {duplicates} duplicates dropped"
    );
    assert!(faults_happened(&cluster), "the faults did not happen");
    cluster.nothing_is_left();
}

/// A kill may hit a node that has nothing in hand.
fn faults_happened(cluster: &Cluster) -> bool {
    cluster.said("shard taken over") > 0
        && redeliveries(cluster) > 0
        && cluster.sum_of("duplicates") > 0
}

/// Fragments that were mapped again, and messages that came again to a shard.
fn redeliveries(cluster: &Cluster) -> u64 {
    cluster.said("fragment delivered again") as u64 + cluster.sum_of("redelivered")
}
