//! The failure detector: pings in a row without an answer make a node dead, an answer makes it alive.
//!
//! Misses are counted, not timed: a monitor that was itself frozen misses one ping, not all of them. And
//! only a process that has answered can fall silent: `known` is the incarnation that a verdict is about.

use std::collections::{BTreeMap, VecDeque};

use caudal_core::limits::{MISSES_MAX, PING_MS};
use fastrand::Rng;

use crate::{NodeId, Process};

pub struct Detector {
    nodes: BTreeMap<NodeId, Watch>,
    rng: Rng,
}

struct Watch {
    verdict: Verdict,
    known: Option<Process>,
    /// Of the pings that have not been answered, nor any after them.
    unanswered: VecDeque<u64>,
    next_ping_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not heard yet, and not missed for long enough.
    Unknown,
    Up,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    Ping { node: NodeId, nonce: u64 },
    Down { node: NodeId },
    Up { node: NodeId },
}

/// The answer of a node to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    pub node: NodeId,
    pub nonce: u64,
    pub process: Process,
    /// Its main loop does not move: it answers, but it does not live.
    pub stuck: bool,
}

impl Detector {
    /// Nonces are drawn from `rng`: who can guess one still cannot sign an answer to it.
    pub fn new(nodes: impl IntoIterator<Item = NodeId>, mut rng: Rng) -> Self {
        let mut watch = || Watch {
            verdict: Verdict::Unknown,
            known: None,
            unanswered: VecDeque::new(),
            // Not all at once.
            next_ping_ms: rng.u64(0..PING_MS),
        };
        let nodes = nodes.into_iter().map(|node| (node, watch())).collect();
        Self { nodes, rng }
    }

    pub fn tick(&mut self, now_ms: u64) -> Vec<Detection> {
        let mut found = vec![];
        for (&node, watch) in &mut self.nodes {
            if now_ms < watch.next_ping_ms {
                continue;
            }
            watch.next_ping_ms = now_ms + PING_MS;
            if watch.unanswered.len() == MISSES_MAX {
                watch.unanswered.pop_front();
                if watch.verdict != Verdict::Down {
                    watch.verdict = Verdict::Down;
                    found.push(Detection::Down { node });
                }
            }
            let nonce = self.rng.u64(..);
            watch.unanswered.push_back(nonce);
            found.push(Detection::Ping { node, nonce });
        }
        found
    }

    /// An answer counts once, and only to a ping that was sent not long ago.
    pub fn pong(&mut self, pong: Pong) -> Option<Detection> {
        let watch = self.nodes.get_mut(&pong.node)?;
        let answered = watch.unanswered.iter().position(|nonce| *nonce == pong.nonce)?;
        watch.known = Some(pong.process);
        if pong.stuck {
            return None;
        }
        watch.unanswered.drain(..=answered);
        let was_down = watch.verdict == Verdict::Down;
        watch.verdict = Verdict::Up;
        was_down.then_some(Detection::Up { node: pong.node })
    }

    pub fn verdict(&self, node: NodeId) -> Verdict {
        self.nodes.get(&node).map_or(Verdict::Unknown, |watch| watch.verdict)
    }

    /// The last process that answered for the node.
    pub fn known(&self, node: NodeId) -> Option<Process> {
        self.nodes.get(&node)?.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(1);
    const INCARNATION: Process = Process { pid: 7, started: 1 };

    fn detector() -> Detector {
        Detector::new([NODE], Rng::with_seed(1))
    }

    /// One ping, and its nonce.
    fn ping(detector: &mut Detector, now_ms: u64) -> (u64, Vec<Detection>) {
        let found = detector.tick(now_ms);
        let nonce = found.iter().find_map(|found| match found {
            Detection::Ping { nonce, .. } => Some(*nonce),
            _ => None,
        });
        (nonce.expect("a ping is due"), found)
    }

    fn pong(nonce: u64) -> Pong {
        Pong { node: NODE, nonce, process: INCARNATION, stuck: false }
    }

    #[test]
    fn a_node_is_dead_after_so_many_misses_and_not_before() {
        let mut detector = detector();
        for miss in 0..MISSES_MAX as u64 {
            let (_, found) = ping(&mut detector, (miss + 1) * PING_MS);
            assert_eq!(found.len(), 1, "after {miss} misses: {found:?}");
        }
        let now_ms = (MISSES_MAX as u64 + 1) * PING_MS;
        let (nonce, found) = ping(&mut detector, now_ms);
        assert!(found.contains(&Detection::Down { node: NODE }));
        assert_eq!(detector.pong(pong(nonce)), Some(Detection::Up { node: NODE }));
        assert_eq!(detector.verdict(NODE), Verdict::Up);
    }

    #[test]
    fn an_answer_to_an_older_ping_is_a_sign_of_life() {
        let mut detector = detector();
        let mut nonces = VecDeque::new();
        for n in 1..50 {
            let (nonce, found) = ping(&mut detector, n * PING_MS);
            assert_eq!(found.len(), 1, "{found:?}");
            nonces.push_back(nonce);
            if nonces.len() == MISSES_MAX {
                detector.pong(pong(nonces.pop_front().unwrap()));
            }
        }
    }

    #[test]
    fn a_replayed_or_invented_answer_is_none() {
        let mut detector = detector();
        let (nonce, _) = ping(&mut detector, PING_MS);
        detector.pong(pong(nonce));
        let mut died = false;
        for n in 2..10 {
            let (other, found) = ping(&mut detector, n * PING_MS);
            died |= found.contains(&Detection::Down { node: NODE });
            detector.pong(pong(nonce));
            detector.pong(pong(other.wrapping_add(1)));
        }
        assert!(died, "kept alive by a replay");
    }

    #[test]
    fn a_monitor_that_was_frozen_has_missed_one_ping() {
        let mut detector = detector();
        let (nonce, _) = ping(&mut detector, PING_MS);
        detector.pong(pong(nonce));
        let (_, found) = ping(&mut detector, 1_000_000);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(detector.verdict(NODE), Verdict::Up);
    }

    #[test]
    fn one_that_is_stuck_is_known_and_dead() {
        let mut detector = detector();
        let mut died = false;
        for n in 1..10 {
            let (nonce, found) = ping(&mut detector, n * PING_MS);
            died |= found.contains(&Detection::Down { node: NODE });
            detector.pong(Pong { stuck: true, ..pong(nonce) });
        }
        assert!(died);
        assert_eq!(detector.known(NODE), Some(INCARNATION));
    }
}
