//! Nodes killed at random while clients run suites: every answer is that of one process.
//!
//! ```text
//! CAUDAL_KILLS=100 CAUDAL_SEED=1 cargo test -p caudal-cli --test cluster random -- --nocapture
//! ```

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;

use crate::harness::{Cluster, Data};

const KILLS: usize = 12;
const CLIENTS: usize = 4;
const SUITES: [(&str, &str); 4] =
    [("coffee", "0.02"), ("movies", "0.01"), ("books", "0.004"), ("steam", "0.001")];

#[test]
fn nodes_killed_at_random_change_no_answer() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |value| value.parse::<usize>().unwrap())
    };
    let (kills, seed) = (number("CAUDAL_KILLS", KILLS), number("CAUDAL_SEED", 1));
    let suites: Vec<_> =
        SUITES.iter().map(|(suite, scale)| (*suite, Data::of(suite, scale))).collect();
    let mut cluster = Cluster::of(2, 4);
    let gateways = cluster.gateways.join(",");
    let folder = cluster.folder.path().to_path_buf();
    let (enough, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut killed = 0;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (suites, enough, answered) = (&suites, &enough, &answered);
            let (gateways, folder) = (&gateways, &folder);
            scope.spawn(move || {
                // A client that fails ends the killing, too.
                let _guard = SetOnDrop(enough);
                for run in 0.. {
                    let (suite, data) = &suites[(client + run) % suites.len()];
                    let out = format!("out-{client}-{run}");
                    run_one(suite, data, gateways, folder, &out);
                    answered.fetch_add(1, Ordering::Relaxed);
                    if enough.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let mut rng = Rng::with_seed(seed as u64);
        while killed < kills || (killed < 10 * kills && !faults_happened(&cluster)) {
            killed += 1;
            std::thread::sleep(Duration::from_millis(rng.u64(100..800)));
            let names: Vec<String> = cluster.nodes.keys().cloned().collect();
            let victim = &names[rng.usize(..names.len())];
            cluster.kill(victim);
            std::thread::sleep(Duration::from_millis(rng.u64(0..300)));
            cluster.restart(victim);
            if enough.load(Ordering::Relaxed) {
                break;
            }
        }
        enough.store(true, Ordering::Relaxed);
    });
    let (takeovers, redelivered) = (cluster.said("shard taken over"), cluster.said("redelivered"));
    let duplicates = cluster.sum_of("duplicates");
    let answered = answered.into_inner();
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
        && cluster.said("redelivered") > 0
        && cluster.sum_of("duplicates") > 0
}

fn run_one(suite: &str, data: &Data, gateways: &str, folder: &std::path::Path, out: &str) {
    let mut command = crate::harness::caudal();
    command.args(["run", suite, "--gateway", gateways, "--data"]).arg(&data.folder);
    command.arg("--out").arg(folder.join(out));
    crate::harness::Client::start(command, &folder.join(format!("{out}.log"))).succeeds();
    data.compare(&folder.join(out));
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
