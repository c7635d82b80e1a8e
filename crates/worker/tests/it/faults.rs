//! Duplicated, reordered and repeated fragments do not change an answer.
//!
//! The memory broker duplicates and reorders; a faulty map worker takes fragments from under the others,
//! sends what they become in parts of its own, all or only some of them, and dies without
//! acknowledging. Every run has to show that this did happen.

use caudal_broker::Faults;
use caudal_testing::Seeds;
use fastrand::Rng;

use crate::harness::{Run, Seen};
use crate::workload::Workload;

const SEEDS: u64 = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_do_not_depend_on_delivery() {
    let mut seen = Seen::default();
    let seeds = Seeds::of(SEEDS);
    for seed in seeds.range() {
        let mut rng = Rng::with_seed(1000 + seed);
        let Some(workload) = Workload::random(&mut rng).await else { continue };
        let sql = workload.sql();
        let mut run = Run::new(&workload.tables, &sql, rng.usize(1..5));
        run.faults = Faults { duplicate: 0.3, reorder: true };
        run.faulty_mapper = true;
        run.seed = seed;
        let (answers, saw) = run.answers().await.unwrap_or_else(|e| panic!("{e}\nseed {seed}"));
        seen.redelivered += saw.redelivered;
        seen.duplicates += saw.duplicates;
        workload.check(answers, seed).await;
    }
    println!("{seen:?}");
    let happened = seen.redelivered > 20 && seen.duplicates > 500;
    assert!(happened || !seeds.suffice(), "the faults did not happen: {seen:?}");
}
