//! The state of a monitor, without its sockets: events in, actions out, at a time that the caller gives.

use std::collections::{BTreeMap, BTreeSet};

use caudal_core::limits::MONITOR_GAP_MS_MAX;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::detect::{Detection, Detector, Pong, Verdict};
use crate::elect::{ElectionMessage, Elector};
use crate::launch::Outcome;
use crate::revive::{Reviver, Step};
use crate::{NodeId, Process};

/// A node, as far as a monitor has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub is_monitor: bool,
    /// The machine it runs on: only a monitor there can start it.
    pub host: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Tick,
    Pong(Pong),
    Message { from: NodeId, message: Message },
    Launched { node: NodeId, asked_by: NodeId, outcome: Outcome },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Ping {
        node: NodeId,
        nonce: u64,
    },
    Send {
        to: NodeId,
        message: Message,
    },
    /// Bring a node of this host back: `launch::decide` says how.
    Launch {
        node: NodeId,
        dead: Option<Process>,
        asked_by: NodeId,
    },
    Report(ClusterEvent),
}

/// A message from one monitor to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    Election(ElectionMessage),
    /// The leader wants a node of the receiver's host brought back.
    Launch {
        node: NodeId,
        dead: Option<Process>,
    },
    Launched {
        node: NodeId,
        outcome: Outcome,
    },
}

/// An event of the cluster, for its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterEvent {
    Down(NodeId),
    Up(NodeId),
    Leader(Option<NodeId>),
    Restarting {
        node: NodeId,
        on: NodeId,
    },
    /// No monitor lives where the node could be started.
    Unreachable(NodeId),
    GaveUp {
        node: NodeId,
        revivals: u32,
    },
}

/// Detection, election and restarts of one monitor.
pub struct MonitorState {
    me: NodeId,
    peers: BTreeMap<NodeId, Peer>,
    detector: Detector,
    elector: Elector,
    reviver: Reviver,
    leader_reported: Option<NodeId>,
    /// The dead of hosts where no monitor lives.
    unreachable: BTreeSet<NodeId>,
    /// Time that this monitor has been awake for; all else goes by this clock.
    watched_ms: u64,
    last_tick_ms: Option<u64>,
}

impl MonitorState {
    pub fn new(me: NodeId, peers: BTreeMap<NodeId, Peer>, rng: Rng) -> Self {
        let monitors = peers.iter().filter(|(_, peer)| peer.is_monitor).map(|(node, _)| *node);
        let elector = Elector::new(me, monitors);
        let others = peers.keys().copied().filter(|node| *node != me);
        let detector = Detector::new(others, rng);
        let reviver = Reviver::default();
        Self {
            me,
            peers,
            detector,
            elector,
            reviver,
            leader_reported: None,
            unreachable: BTreeSet::new(),
            watched_ms: 0,
            last_tick_ms: None,
        }
    }

    pub fn leader(&self) -> Option<NodeId> {
        self.elector.leader()
    }

    pub fn leads(&self) -> bool {
        self.elector.leads()
    }

    pub fn given_up(&self) -> Vec<NodeId> {
        self.reviver.given_up().collect()
    }

    /// `now_ms` is of any clock that does not go back.
    pub fn handle(&mut self, event: Event, now_ms: u64) -> Vec<Action> {
        let mut actions = vec![];
        match event {
            Event::Tick => self.tick(now_ms, &mut actions),
            Event::Pong(pong) => actions.extend(self.detector.pong(pong).map(found)),
            Event::Message { from, message } => self.receive(from, message, &mut actions),
            Event::Launched { node, asked_by, outcome } if asked_by == self.me => {
                self.reviver.launched(node, &outcome, self.watched_ms);
            }
            Event::Launched { node, asked_by, outcome } => {
                let message = Message::Launched { node, outcome };
                actions.push(Action::Send { to: asked_by, message });
            }
        }
        if self.leader_reported != self.leader() {
            self.leader_reported = self.leader();
            actions.push(Action::Report(ClusterEvent::Leader(self.leader())));
        }
        actions
    }

    fn tick(&mut self, now_ms: u64, actions: &mut Vec<Action>) {
        let last_ms = self.last_tick_ms.replace(now_ms).unwrap_or(now_ms);
        self.watched_ms += now_ms.saturating_sub(last_ms).min(MONITOR_GAP_MS_MAX);
        actions.extend(self.detector.tick(self.watched_ms).into_iter().map(found));
        actions.extend(self.elector.tick(self.watched_ms).into_iter().map(send));
        if self.leads() {
            self.revive(actions);
        } else {
            self.reviver.forget();
        }
    }

    /// The highest monitors first: one of them has led, and will again.
    fn revive(&mut self, actions: &mut Vec<Action>) {
        let others = || self.peers.iter().filter(|(node, _)| **node != self.me);
        let monitors = others().filter(|(_, peer)| peer.is_monitor).rev();
        let in_order = monitors.chain(others().filter(|(_, peer)| !peer.is_monitor));
        let in_order: Vec<NodeId> = in_order.map(|(node, _)| *node).collect();
        for node in in_order {
            let verdict = self.detector.verdict(node);
            let executor = self.executor(node);
            if verdict != Verdict::Down || executor.is_some() {
                self.unreachable.remove(&node);
            } else if self.unreachable.insert(node) {
                actions.push(Action::Report(ClusterEvent::Unreachable(node)));
            }
            let Some(on) = executor else { continue };
            match self.reviver.step(node, verdict, self.watched_ms) {
                Some(Step::Launch) => actions.extend(self.launch(node, on)),
                Some(Step::GiveUp { revivals }) => {
                    actions.push(Action::Report(ClusterEvent::GaveUp { node, revivals }));
                }
                None => {}
            }
        }
    }

    fn launch(&self, node: NodeId, on: NodeId) -> [Action; 2] {
        let dead = self.detector.known(node);
        let launch = if on == self.me {
            Action::Launch { node, dead, asked_by: self.me }
        } else {
            Action::Send { to: on, message: Message::Launch { node, dead } }
        };
        [Action::Report(ClusterEvent::Restarting { node, on }), launch]
    }

    /// The monitor that can start processes on the node's host.
    fn executor(&self, node: NodeId) -> Option<NodeId> {
        let host = &self.peers.get(&node)?.host;
        let is_there = |monitor: &NodeId| self.peers[monitor].host == *host;
        if is_there(&self.me) {
            return Some(self.me);
        }
        let lives = |monitor: &NodeId| {
            self.peers[monitor].is_monitor && self.detector.verdict(*monitor) == Verdict::Up
        };
        self.peers.keys().rev().find(|peer| lives(peer) && is_there(peer)).copied()
    }

    fn receive(&mut self, from: NodeId, message: Message, actions: &mut Vec<Action>) {
        match message {
            Message::Election(message) => {
                let out = self.elector.receive(from, message, self.watched_ms);
                actions.extend(out.into_iter().map(send));
            }
            Message::Launch { node, dead } => actions.push(self.carry_out(from, node, dead)),
            Message::Launched { node, outcome } => {
                self.reviver.launched(node, &outcome, self.watched_ms);
            }
        }
    }

    /// The launch that the leader asks for, unless this monitor knows better: it hears the node, or another leader.
    fn carry_out(&self, from: NodeId, node: NodeId, dead: Option<Process>) -> Action {
        let answer =
            |outcome| Action::Send { to: from, message: Message::Launched { node, outcome } };
        let refused = |reason: &str| answer(Outcome::Failed { reason: reason.to_string() });
        if self.leader() != Some(from) {
            return refused("another one leads");
        }
        if node == self.me || self.detector.verdict(node) == Verdict::Up {
            return answer(Outcome::LeftAlone);
        }
        if self.executor(node) != Some(self.me) {
            return refused("the node lives elsewhere");
        }
        Action::Launch { node, dead, asked_by: from }
    }
}

fn found(found: Detection) -> Action {
    match found {
        Detection::Ping { node, nonce } => Action::Ping { node, nonce },
        Detection::Down { node } => Action::Report(ClusterEvent::Down(node)),
        Detection::Up { node } => Action::Report(ClusterEvent::Up(node)),
    }
}

fn send((to, message): (NodeId, ElectionMessage)) -> Action {
    Action::Send { to, message: Message::Election(message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_core::limits::{LAUNCH_MS, MONITOR_TICK_MS};

    fn peers(hosts: [&str; 4]) -> BTreeMap<NodeId, Peer> {
        let peer = |(at, host): (usize, &str)| {
            let peer = Peer { is_monitor: at > 1, host: host.to_string() };
            (NodeId(at as u32 + 1), peer)
        };
        hosts.into_iter().enumerate().map(peer).collect()
    }

    /// Actions of a monitor that hears nobody.
    fn alone(me: u32, hosts: [&str; 4], until_ms: u64) -> Vec<Action> {
        let mut monitor = MonitorState::new(NodeId(me), peers(hosts), Rng::with_seed(1));
        let ticks = (0..until_ms).step_by(MONITOR_TICK_MS as usize);
        ticks.flat_map(|now_ms| monitor.handle(Event::Tick, now_ms)).collect()
    }

    fn launches(actions: &[Action]) -> Vec<NodeId> {
        let launch = |action: &Action| match action {
            Action::Launch { node, .. } => Some(*node),
            _ => None,
        };
        actions.iter().filter_map(launch).collect()
    }

    #[test]
    fn the_last_monitor_brings_all_others_back_monitors_first() {
        let done = launches(&alone(3, ["a"; 4], LAUNCH_MS));
        assert_eq!(done, [NodeId(4), NodeId(1), NodeId(2)]);
    }

    #[test]
    fn nodes_of_another_host_are_out_of_reach_without_a_monitor_there() {
        let done = alone(3, ["a", "b", "a", "b"], LAUNCH_MS);
        assert_eq!(launches(&done), [NodeId(1)]);
        let told = done
            .iter()
            .filter(|action| **action == Action::Report(ClusterEvent::Unreachable(NodeId(2))));
        assert_eq!(told.count(), 1);
    }

    #[test]
    fn nobody_is_revived_on_the_word_of_one_that_does_not_lead() {
        let mut monitor = MonitorState::new(NodeId(3), peers(["a"; 4]), Rng::with_seed(1));
        let message = Message::Launch { node: NodeId(1), dead: None };
        let asked = Event::Message { from: NodeId(4), message };
        let done = monitor.handle(asked.clone(), 0);
        assert!(launches(&done).is_empty(), "{done:?}");
        let leads = Message::Election(ElectionMessage::Coordinator);
        monitor.handle(Event::Message { from: NodeId(4), message: leads }, 0);
        assert_eq!(launches(&monitor.handle(asked, 0)), [NodeId(1)]);
    }

    #[test]
    fn time_that_was_slept_through_does_not_count() {
        let mut monitor = MonitorState::new(NodeId(4), peers(["a"; 4]), Rng::with_seed(1));
        let mut done = vec![];
        for now_ms in [0, 10_000, 20_000, 30_000] {
            done.extend(monitor.handle(Event::Tick, now_ms));
        }
        assert!(!done.iter().any(|action| matches!(action, Action::Report(ClusterEvent::Down(_)))));
    }
}
