//! The simulation in the tests of every build: some hundred seeds, the same twice, and the deliberate
//! defects that it has to find.

#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod mutants;

use caudal_sim::client::End;
use caudal_sim::many::run_many;
use caudal_sim::run::{Options, run};
use caudal_testing::Seeds;

const SEEDS: u64 = 200;

/// Seeds that found something, for as long as what they are about stays the same: a change of the
/// simulation makes other schedules of them. What each found has a test of its own besides, in its crate:
/// `timeouts` (8, 21, 152), `retry_markers` (87), `gateways` (4), `trouble` (441).
const FOUND: [u64; 6] = [8, 21, 87, 152, 441, 4];

fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

#[test]
fn whatever_goes_wrong_answers_are_exact_or_there_is_a_code() {
    let seeds = Seeds::of(SEEDS);
    let summary = run_many(seeds.range(), &Options::default(), false, jobs(), |_| {});
    println!("{summary:#?}");
    assert!(summary.failures.is_empty(), "{:#?}", summary.failures);
    if !seeds.suffice() {
        return;
    }
    assert!(summary.never_fired().is_empty(), "{:?} never happened", summary.never_fired());
    let excused: u64 = summary.excused.values().sum();
    assert!(summary.answered > 4 * excused, "most sessions are answered, whatever happens");
}

#[test]
fn what_was_found_is_not_found_again() {
    for seed in FOUND {
        let report = run(seed, &Options::default());
        assert!(report.problems.is_empty(), "seed {seed}: {:#?}", report.problems);
    }
}

#[test]
fn the_same_seed_is_the_same_to_the_last_byte() {
    let options = Options { keep_lines: true, ..Options::default() };
    for seed in [0, 1, 5, 10, 23, 33] {
        let (one, two) = (run(seed, &options), run(seed, &options));
        let lines = one.trace.lines.unwrap();
        assert!(lines.len() > 100, "something happened");
        for (one, two) in lines.iter().zip(two.trace.lines.unwrap()) {
            assert_eq!(*one, two, "seed {seed}");
        }
        assert_eq!((one.ends, one.counts), (two.ends, two.counts), "seed {seed}");
        assert_eq!(one.trace.hash, two.trace.hash, "seed {seed}");
        assert_ne!(one.trace.hash, run(seed + 100, &options).trace.hash);
    }
}

#[test]
fn where_nothing_goes_wrong_every_session_is_answered() {
    let without = caudal_sim::faults::Fault::ALL.iter().copied().collect();
    let options = Options { without, ..Options::default() };
    for seed in [0, 3, 7, 13, 23, 33] {
        let report = run(seed, &options);
        let is_answered = |end: &End| matches!(end, End::Answered { .. });
        assert!(report.ends.iter().all(is_answered), "seed {seed}: {:?}", report.ends);
        assert!(report.counts.values().all(|count| *count == 0), "{:?}", report.counts);
        assert!(report.problems.is_empty(), "seed {seed}: {:?}", report.problems);
    }
}

/// A rule that no lint can check: a select that draws lots cannot be replayed.
#[test]
fn no_service_draws_lots() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for service in ["client", "engine", "gateway", "store", "worker"] {
        let mut folders = vec![crates.join(service).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                // It is about the network, and not simulated.
                if path.ends_with("gateway/src/server.rs") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for after in text.split("select! {").skip(1) {
                    seen += 1;
                    assert!(after.trim_start().starts_with("biased;"), "{}", path.display());
                }
            }
        }
    }
    assert!(seen > 5);
}
