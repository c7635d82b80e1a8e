//! Choice of the next node to hit: pure, from the nodes there are, the time, and a seed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use caudal_monitor::members::Role;
use clap::ValueEnum;

/// Kinds of faults of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Kind {
    /// SIGKILL
    Kill,
    /// SIGSTOP
    Freeze,
}

/// A node as chaos sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub name: String,
    pub role: Role,
    /// It runs, and is not frozen.
    pub is_well: bool,
}

pub struct Choice {
    random: fastrand::Rng,
    kinds: Vec<Kind>,
    /// For so long a node that was hit is not hit again.
    spare_window: Duration,
    /// The last monitor is left alone: without one nothing comes back.
    has_mercy: bool,
    hit: HashMap<String, Instant>,
}

impl Choice {
    pub fn new(seed: u64, kinds: Vec<Kind>, spare_window: Duration, has_mercy: bool) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self { random, kinds, spare_window, has_mercy, hit: HashMap::new() }
    }

    /// Node to hit now, and how; `None` where all are down, spared or needed.
    pub fn next(&mut self, targets: &[Target], now: Instant) -> Option<(String, Kind)> {
        let candidates: Vec<&Target> =
            targets.iter().filter(|target| self.may_be_hit(target, targets, now)).collect();
        let target = *self.random.choice(&candidates)?;
        let kind = *self.random.choice(&self.kinds)?;
        self.hit.insert(target.name.clone(), now);
        Some((target.name.clone(), kind))
    }

    fn may_be_hit(&self, target: &Target, all: &[Target], now: Instant) -> bool {
        let is_spared = self
            .hit
            .get(&target.name)
            .is_some_and(|hit| now.duration_since(*hit) < self.spare_window);
        target.is_well && !is_spared && !(self.has_mercy && is_last_monitor(target, all))
    }
}

pub fn is_last_monitor(target: &Target, all: &[Target]) -> bool {
    let monitors = all.iter().filter(|other| other.role == Role::Monitor && other.is_well);
    target.role == Role::Monitor && monitors.count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn nodes() -> Vec<Target> {
        let node = |name: &str, role| Target { name: name.into(), role, is_well: true };
        vec![
            node("gateway-1", Role::Gateway),
            node("worker-1", Role::Worker),
            node("monitor-1", Role::Monitor),
            node("monitor-2", Role::Monitor),
        ]
    }

    fn choice(has_mercy: bool) -> Choice {
        Choice::new(7, vec![Kind::Kill, Kind::Freeze], 5 * SECOND, has_mercy)
    }

    #[test]
    fn everybody_and_everything_has_its_turn_and_the_seed_says_when() {
        let start = Instant::now();
        let run = |seed| -> Vec<_> {
            let kinds = vec![Kind::Kill, Kind::Freeze];
            let mut choice = Choice::new(seed, kinds, Duration::ZERO, true);
            (0..200).filter_map(|at| choice.next(&nodes(), start + SECOND * at)).collect()
        };
        let hits = run(1);
        assert_eq!(hits, run(1));
        assert_ne!(hits, run(2));
        for node in nodes() {
            for kind in [Kind::Kill, Kind::Freeze] {
                assert!(hits.contains(&(node.name.clone(), kind)), "{} {kind:?}", node.name);
            }
        }
    }

    #[test]
    fn a_node_is_spared_for_a_while() {
        let (start, mut choice) = (Instant::now(), choice(true));
        let mut last: HashMap<String, Instant> = HashMap::new();
        for at in 0..500 {
            let now = start + SECOND * at;
            if let Some((name, _)) = choice.next(&nodes(), now)
                && let Some(before) = last.insert(name, now)
            {
                assert!(now - before >= 5 * SECOND);
            }
        }
        assert_eq!(last.len(), 4);
    }

    #[test]
    fn the_last_monitor_is_left_alone_unless_there_is_no_mercy() {
        let mut nodes = nodes();
        nodes[2].is_well = false;
        let hits = |mut choice: Choice| -> Vec<String> {
            let start = Instant::now();
            let hits = (0..100).filter_map(|at| choice.next(&nodes, start + SECOND * at * 6));
            hits.map(|(name, _)| name).collect()
        };
        assert!(!hits(choice(true)).contains(&"monitor-2".to_string()));
        assert!(hits(choice(false)).contains(&"monitor-2".to_string()));
    }

    #[test]
    fn who_is_down_is_not_hit() {
        let mut nodes = nodes();
        nodes.iter_mut().for_each(|node| node.is_well = false);
        assert_eq!(choice(false).next(&nodes, Instant::now()), None);
    }
}
