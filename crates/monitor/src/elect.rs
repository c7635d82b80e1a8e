//! The leader election: Bully. The highest monitor that lives leads; one that comes back takes its place again.
//!
//! ```text
//! start, or the leader is silent ──▶ Election to all higher ones
//!    no Answer in time ─────────────▶ leads: Coordinator to all, then a Heartbeat now and then
//!    an Answer ─────────────────────▶ waits for its Coordinator; none: begins again
//! Election from a lower one ────────▶ Answer, and an election of one's own (a leader: Coordinator)
//! Coordinator, Heartbeat ───────────▶ from a higher one: follows it
//!                                     from a lower one, and we lead: Coordinator to it
//! ```
//!
//! A monitor follows only higher ones, and of two it hears the higher. Nothing rests on there being one
//! leader at a time: a partition has one on each side.

use std::collections::BTreeSet;

use caudal_core::limits::{
    ELECTION_ANSWER_MS, ELECTION_COORDINATOR_MS, LEADER_HEARTBEAT_MS, LEADER_SILENT_MS,
};
use serde::{Deserialize, Serialize};

use crate::NodeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElectionMessage {
    Election,
    Answer,
    Coordinator,
    Heartbeat,
}

pub struct Elector {
    me: NodeId,
    others: BTreeSet<NodeId>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has happened yet.
    New,
    Electing {
        answered: bool,
        until_ms: u64,
    },
    Following {
        leader: NodeId,
        heard_ms: u64,
    },
    Leading {
        next_heartbeat_ms: u64,
    },
}

/// A message, and to whom it goes.
pub type Out = (NodeId, ElectionMessage);

impl Elector {
    pub fn new(me: NodeId, monitors: impl IntoIterator<Item = NodeId>) -> Self {
        let others = monitors.into_iter().filter(|monitor| *monitor != me).collect();
        Self { me, others, state: State::New }
    }

    pub fn leader(&self) -> Option<NodeId> {
        match self.state {
            State::Following { leader, .. } => Some(leader),
            State::Leading { .. } => Some(self.me),
            State::New | State::Electing { .. } => None,
        }
    }

    pub fn leads(&self) -> bool {
        matches!(self.state, State::Leading { .. })
    }

    pub fn tick(&mut self, now_ms: u64) -> Vec<Out> {
        match self.state {
            State::New => self.begin(now_ms),
            State::Electing { answered: false, until_ms } if now_ms >= until_ms => {
                self.lead(now_ms)
            }
            State::Electing { answered: true, until_ms } if now_ms >= until_ms => {
                self.begin(now_ms)
            }
            State::Following { heard_ms, .. } if now_ms >= heard_ms + LEADER_SILENT_MS => {
                self.begin(now_ms)
            }
            State::Leading { next_heartbeat_ms } if now_ms >= next_heartbeat_ms => {
                self.state = State::Leading { next_heartbeat_ms: now_ms + LEADER_HEARTBEAT_MS };
                self.to_all(ElectionMessage::Heartbeat)
            }
            State::Electing { .. } | State::Following { .. } | State::Leading { .. } => vec![],
        }
    }

    pub fn receive(&mut self, from: NodeId, message: ElectionMessage, now_ms: u64) -> Vec<Out> {
        if !self.others.contains(&from) {
            return vec![];
        }
        match message {
            ElectionMessage::Election if from < self.me => self.answer(from, now_ms),
            ElectionMessage::Answer if from > self.me => {
                if let State::Electing { .. } = self.state {
                    let until_ms = now_ms + ELECTION_COORDINATOR_MS;
                    self.state = State::Electing { answered: true, until_ms };
                }
                vec![]
            }
            ElectionMessage::Coordinator | ElectionMessage::Heartbeat if from > self.me => {
                match self.state {
                    State::Following { leader, .. } if leader > from => {}
                    _ => self.state = State::Following { leader: from, heard_ms: now_ms },
                }
                vec![]
            }
            ElectionMessage::Coordinator | ElectionMessage::Heartbeat if self.leads() => {
                vec![(from, ElectionMessage::Coordinator)]
            }
            ElectionMessage::Election
            | ElectionMessage::Answer
            | ElectionMessage::Coordinator
            | ElectionMessage::Heartbeat => vec![],
        }
    }

    fn answer(&mut self, from: NodeId, now_ms: u64) -> Vec<Out> {
        let mut out = vec![(from, ElectionMessage::Answer)];
        match self.state {
            State::Leading { .. } => out.push((from, ElectionMessage::Coordinator)),
            State::Electing { .. } => {}
            State::New | State::Following { .. } => out.extend(self.begin(now_ms)),
        }
        out
    }

    fn begin(&mut self, now_ms: u64) -> Vec<Out> {
        let higher: Vec<Out> = self
            .others
            .range((std::ops::Bound::Excluded(self.me), std::ops::Bound::Unbounded))
            .map(|other| (*other, ElectionMessage::Election))
            .collect();
        if higher.is_empty() {
            return self.lead(now_ms);
        }
        self.state = State::Electing { answered: false, until_ms: now_ms + ELECTION_ANSWER_MS };
        higher
    }

    fn lead(&mut self, now_ms: u64) -> Vec<Out> {
        self.state = State::Leading { next_heartbeat_ms: now_ms + LEADER_HEARTBEAT_MS };
        self.to_all(ElectionMessage::Coordinator)
    }

    fn to_all(&self, message: ElectionMessage) -> Vec<Out> {
        self.others.iter().map(|other| (*other, message)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [NodeId; 3] = [NodeId(1), NodeId(2), NodeId(3)];

    fn elector(me: u32) -> Elector {
        Elector::new(NodeId(me), ALL)
    }

    #[test]
    fn the_highest_leads_at_once() {
        let mut third = elector(3);
        let sent = third.tick(0);
        assert_eq!(
            sent,
            [(NodeId(1), ElectionMessage::Coordinator), (NodeId(2), ElectionMessage::Coordinator)]
        );
        assert!(third.leads());
    }

    #[test]
    fn without_an_answer_from_a_higher_one_the_next_leads() {
        let mut second = elector(2);
        assert_eq!(second.tick(0), [(NodeId(3), ElectionMessage::Election)]);
        assert_eq!(second.tick(ELECTION_ANSWER_MS - 1), []);
        second.tick(ELECTION_ANSWER_MS);
        assert!(second.leads());
    }

    #[test]
    fn one_that_was_answered_waits_and_begins_again() {
        let mut first = elector(1);
        assert_eq!(first.tick(0).len(), 2);
        first.receive(NodeId(3), ElectionMessage::Answer, 10);
        assert_eq!(first.tick(ELECTION_ANSWER_MS), []);
        assert_eq!(first.tick(10 + ELECTION_COORDINATOR_MS).len(), 2, "an election anew");
    }

    #[test]
    fn a_lower_one_that_calls_an_election_is_answered_and_outbid() {
        let mut second = elector(2);
        second.receive(NodeId(3), ElectionMessage::Heartbeat, 0);
        let sent = second.receive(NodeId(1), ElectionMessage::Election, 10);
        assert_eq!(
            sent,
            [(NodeId(1), ElectionMessage::Answer), (NodeId(3), ElectionMessage::Election)]
        );
        let mut third = elector(3);
        third.tick(0);
        let sent = third.receive(NodeId(1), ElectionMessage::Election, 10);
        assert_eq!(
            sent,
            [(NodeId(1), ElectionMessage::Answer), (NodeId(1), ElectionMessage::Coordinator)]
        );
        assert_eq!(
            elector(1).receive(NodeId(3), ElectionMessage::Election, 0),
            [],
            "not our business"
        );
    }

    #[test]
    fn a_lower_one_that_says_it_leads_is_put_right_by_the_leader_alone() {
        let mut third = elector(3);
        third.tick(0);
        let sent = third.receive(NodeId(2), ElectionMessage::Heartbeat, 10);
        assert_eq!(sent, [(NodeId(2), ElectionMessage::Coordinator)]);
        let mut second = elector(2);
        second.receive(NodeId(3), ElectionMessage::Coordinator, 0);
        assert_eq!(second.receive(NodeId(1), ElectionMessage::Heartbeat, 10), []);
        assert_eq!(second.leader(), Some(NodeId(3)));
    }

    #[test]
    fn of_two_leaders_the_higher_is_followed() {
        let mut first = elector(1);
        first.receive(NodeId(3), ElectionMessage::Heartbeat, 0);
        first.receive(NodeId(2), ElectionMessage::Coordinator, 10);
        assert_eq!(first.leader(), Some(NodeId(3)));
        first.tick(LEADER_SILENT_MS);
        assert_eq!(first.leader(), None, "the silent one is no leader any more");
        first.receive(NodeId(2), ElectionMessage::Coordinator, LEADER_SILENT_MS);
        assert_eq!(first.leader(), Some(NodeId(2)));
    }

    #[test]
    fn strangers_are_not_heard() {
        let mut first = elector(1);
        first.receive(NodeId(9), ElectionMessage::Coordinator, 0);
        assert_eq!(first.leader(), None);
    }
}
