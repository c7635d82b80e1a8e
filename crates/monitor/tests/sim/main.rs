//! Monitors on a simulated network: loss, delay, reordering, duplication, partitions, crashes, freezes,
//! restarts, each from a seed.
//!
//! ```text
//! CAUDAL_SEEDS=20000 cargo test -p caudal-monitor --test sim
//! CAUDAL_SEED=17 cargo test -p caudal-monitor --test sim -- --nocapture     that one, with its log
//! ```

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod faults;
mod network;
mod watch;
mod world;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_testing::Seeds;

use crate::faults::Schedule;
use crate::watch::Counts;
use crate::world::World;

const SEEDS: u64 = 3000;

#[test]
fn after_the_faults_there_is_one_leader_and_everybody_lives() {
    let seeds = Seeds::of(SEEDS);
    let Range { start, end } = seeds.range();
    if end - start == 1 {
        println!("{:?}", run(start, true));
        return;
    }
    let (next, all) = (AtomicU64::new(start), Mutex::new(Counts::default()));
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    let counts = catch_unwind(AssertUnwindSafe(|| run(seed, false)));
                    let counts = counts.unwrap_or_else(|panic| {
                        println!("again: CAUDAL_SEED={seed} cargo test -p caudal-monitor --test sim -- --nocapture");
                        next.store(end, Ordering::Relaxed);
                        resume_unwind(panic)
                    });
                    all.lock().unwrap().add(&counts);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    println!("{end} seeds: {all:?}");
    if seeds.suffice() {
        all.faults_happened();
    }
}

fn run(seed: u64, loud: bool) -> Counts {
    let schedule = Schedule::draw(seed);
    let mut world = World::new(&schedule, seed, loud);
    for (at_ms, fault) in &schedule.faults {
        world.run_until(*at_ms);
        world.strike(fault);
    }
    world.run_until(schedule.quiet_ms);
    world.heal();
    world.settles();
    world.counts()
}
