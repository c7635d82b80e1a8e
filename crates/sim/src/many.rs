//! Many seeds, on all cores, and what they came to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::End;
use crate::faults::{Counts, Fault};
use crate::run::{Options, Report, run};
use crate::world::lock;

#[derive(Debug, Default)]
pub struct Summary {
    pub seeds: u64,
    pub answered: u64,
    pub rows: u64,
    pub vanished: u64,
    /// Sessions that ended without an answer and may, by their code and by why.
    pub excused: BTreeMap<(String, String), u64>,
    /// Seeds in which something was not as it should be, and what.
    pub failures: Vec<(u64, Vec<String>)>,
    /// Seeds that had a kind of fault switched on.
    pub enabled: Counts,
    pub counts: Counts,
    pub events: u64,
    pub simulated: Duration,
    pub elapsed: Duration,
}

impl Summary {
    fn add(&mut self, report: Report) {
        self.seeds += 1;
        for end in &report.ends {
            match end {
                End::Answered { rows } => {
                    self.answered += 1;
                    self.rows += *rows as u64;
                }
                End::Vanished => self.vanished += 1,
                End::Coded { .. } | End::Wrong { .. } | End::Hangs => {}
            }
        }
        for excuse in report.excused {
            *self.excused.entry(excuse).or_default() += 1;
        }
        for fault in report.enabled {
            *self.enabled.entry(fault).or_default() += 1;
        }
        for (fault, count) in report.counts {
            *self.counts.entry(fault).or_default() += count;
        }
        self.events += report.trace.events;
        self.simulated += report.simulated;
        if !report.problems.is_empty() {
            self.failures.push((report.seed, report.problems));
        }
    }

    /// Kinds of faults that were switched on, and never happened.
    pub fn never_fired(&self) -> Vec<Fault> {
        let fired = |fault: &Fault| self.counts.get(fault).is_some_and(|count| *count > 0);
        self.enabled.keys().copied().filter(|fault| !fired(fault)).collect()
    }

    pub fn seeds_a_second(&self) -> f64 {
        self.seeds as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    pub fn simulated_hours_a_minute(&self) -> f64 {
        self.simulated.as_secs_f64() / 60.0 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Runs all seeds, or those up to the first that fails. `progress` is called after each.
pub fn run_many(
    seeds: Range<u64>,
    options: &Options,
    stop_at_failure: bool,
    jobs: usize,
    progress: impl Fn(&Summary) + Sync,
) -> Summary {
    let started = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let is_over = AtomicBool::new(false);
    let summary = Mutex::new(Summary::default());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let report = run(seed, options);
                    if stop_at_failure && !report.problems.is_empty() {
                        is_over.store(true, Ordering::Relaxed);
                    }
                    let mut summary = lock(&summary);
                    summary.add(report);
                    summary.elapsed = started.elapsed();
                    progress(&summary);
                }
            });
        }
    });
    let mut summary = lock(&summary);
    summary.failures.sort();
    std::mem::take(&mut summary)
}

/// The fewest kinds of faults with which a seed still fails, as far as leaving out one after the
/// other finds them.
pub fn shrink(seed: u64, options: &Options) -> BTreeSet<Fault> {
    let mut options = options.clone();
    let mut needed: Vec<Fault> = run(seed, &options).enabled.into_iter().collect();
    let mut at = 0;
    while at < needed.len() {
        options.without.insert(needed[at]);
        if run(seed, &options).problems.is_empty() {
            options.without.remove(&needed[at]);
            at += 1;
        } else {
            needed.remove(at);
        }
    }
    needed.into_iter().collect()
}
