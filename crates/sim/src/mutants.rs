//! Deliberate defects: what the simulation has to find, or it would find nothing.

use std::collections::BTreeSet;

use crate::faults::Fault;
use crate::run::Options;

pub struct Mutant {
    /// As in `caudal_runtime::failpoint::mutant`.
    pub name: &'static str,
    pub what: &'static str,
    /// Within so many seeds it is found.
    pub seeds_max: u64,
    /// The kinds of faults that can show it, where few can and all others only end sessions before it is seen. Empty: all.
    pub only: &'static [Fault],
}

impl Mutant {
    /// What is left out when it is looked for.
    pub fn without(&self) -> BTreeSet<Fault> {
        let is_out = |fault: &Fault| !self.only.is_empty() && !self.only.contains(fault);
        Fault::ALL.iter().copied().filter(is_out).collect()
    }

    /// A run with it.
    pub fn options(&self) -> Options {
        Options { mutant: Some(self.name), without: self.without(), ..Options::default() }
    }
}

/// It needs two owners of a shard, of whom the one that is late writes a snapshot, and another takeover that reads it.
const FENCED: &[Fault] = &[
    Fault::StoreLate,
    Fault::StoreSlow,
    Fault::ConnectionLoss,
    Fault::WorkerCrash,
    Fault::WorkerFreeze,
    Fault::WorkerJoin,
];

pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "dedup_off",
        what: "a shard takes a fragment again that it has seen",
        seeds_max: 60,
        only: &[],
    },
    Mutant {
        name: "ack_before_journal",
        what: "fragments are acknowledged before they are written down",
        seeds_max: 60,
        only: &[],
    },
    Mutant {
        name: "no_fence",
        what: "a journal's record replaces one that is there",
        seeds_max: 1200,
        only: FENCED,
    },
    Mutant {
        name: "memory_kept",
        what: "what a shard's owner had in memory outlives its subscription",
        seeds_max: 60,
        only: &[],
    },
    Mutant {
        name: "no_baton",
        what: "a shard's owner gives the baton up at once",
        seeds_max: 60,
        only: &[],
    },
    Mutant {
        name: "attempts_mixed",
        what: "parts of different attempts are put together",
        seeds_max: 700,
        only: &[],
    },
    Mutant {
        name: "end_once",
        what: "the end of a table is said once, and not again when nobody answers",
        seeds_max: 100,
        only: &[],
    },
    Mutant {
        name: "output_uncommitted",
        what: "a stage's output is published although another was committed",
        seeds_max: 60,
        only: &[],
    },
    Mutant {
        name: "failure_uncommitted",
        what: "a stage that failed is done, and nothing says so to a successor",
        seeds_max: 300,
        only: &[],
    },
    Mutant {
        name: "compaction_frees",
        what: "compaction removes records instead of keeping their numbers taken",
        seeds_max: 60,
        only: &[],
    },
    Mutant {
        name: "old_lease",
        what: "a janitor counts time in which it has not watched",
        seeds_max: 700,
        only: &[],
    },
    Mutant {
        name: "workers_declare",
        what: "workers make the queues that they miss",
        seeds_max: 60,
        only: &[],
    },
];

pub fn find(name: &str) -> Option<&'static Mutant> {
    MUTANTS.iter().find(|mutant| mutant.name == name)
}
