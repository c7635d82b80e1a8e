//! Who leads: Bully. The highest monitor that lives leads; one that comes back takes its place again.
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

use serde::{Deserialize, Serialize};

use crate::NodeId;
use crate::limits::{ANSWER_MS, COORDINATOR_MS, HEARTBEAT_MS, LEADER_SILENT_MS};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Say {
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

/// What to say, and to whom.
pub type Out = (NodeId, Say);

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
                self.state = State::Leading { next_heartbeat_ms: now_ms + HEARTBEAT_MS };
                self.to_all(Say::Heartbeat)
            }
            State::Electing { .. } | State::Following { .. } | State::Leading { .. } => vec![],
        }
    }

    pub fn hear(&mut self, from: NodeId, said: Say, now_ms: u64) -> Vec<Out> {
        if !self.others.contains(&from) {
            return vec![];
        }
        match said {
            Say::Election if from < self.me => self.answer(from, now_ms),
            Say::Answer if from > self.me => {
                if let State::Electing { .. } = self.state {
                    let until_ms = now_ms + COORDINATOR_MS;
                    self.state = State::Electing { answered: true, until_ms };
                }
                vec![]
            }
            Say::Coordinator | Say::Heartbeat if from > self.me => {
                match self.state {
                    State::Following { leader, .. } if leader > from => {}
                    _ => self.state = State::Following { leader: from, heard_ms: now_ms },
                }
                vec![]
            }
            Say::Coordinator | Say::Heartbeat if self.leads() => vec![(from, Say::Coordinator)],
            Say::Election | Say::Answer | Say::Coordinator | Say::Heartbeat => vec![],
        }
    }

    fn answer(&mut self, from: NodeId, now_ms: u64) -> Vec<Out> {
        let mut out = vec![(from, Say::Answer)];
        match self.state {
            State::Leading { .. } => out.push((from, Say::Coordinator)),
            State::Electing { .. } => {}
            State::New | State::Following { .. } => out.extend(self.begin(now_ms)),
        }
        out
    }

    fn begin(&mut self, now_ms: u64) -> Vec<Out> {
        let higher: Vec<Out> = self
            .others
            .range((std::ops::Bound::Excluded(self.me), std::ops::Bound::Unbounded))
            .map(|other| (*other, Say::Election))
            .collect();
        if higher.is_empty() {
            return self.lead(now_ms);
        }
        self.state = State::Electing { answered: false, until_ms: now_ms + ANSWER_MS };
        higher
    }

    fn lead(&mut self, now_ms: u64) -> Vec<Out> {
        self.state = State::Leading { next_heartbeat_ms: now_ms + HEARTBEAT_MS };
        self.to_all(Say::Coordinator)
    }

    fn to_all(&self, say: Say) -> Vec<Out> {
        self.others.iter().map(|other| (*other, say)).collect()
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
        let said = third.tick(0);
        assert_eq!(said, [(NodeId(1), Say::Coordinator), (NodeId(2), Say::Coordinator)]);
        assert!(third.leads());
    }

    #[test]
    fn without_an_answer_from_a_higher_one_the_next_leads() {
        let mut second = elector(2);
        assert_eq!(second.tick(0), [(NodeId(3), Say::Election)]);
        assert_eq!(second.tick(ANSWER_MS - 1), []);
        second.tick(ANSWER_MS);
        assert!(second.leads());
    }

    #[test]
    fn one_that_was_answered_waits_and_begins_again() {
        let mut first = elector(1);
        assert_eq!(first.tick(0).len(), 2);
        first.hear(NodeId(3), Say::Answer, 10);
        assert_eq!(first.tick(ANSWER_MS), []);
        assert_eq!(first.tick(10 + COORDINATOR_MS).len(), 2, "an election anew");
    }

    #[test]
    fn a_lower_one_that_calls_an_election_is_answered_and_outbid() {
        let mut second = elector(2);
        second.hear(NodeId(3), Say::Heartbeat, 0);
        let said = second.hear(NodeId(1), Say::Election, 10);
        assert_eq!(said, [(NodeId(1), Say::Answer), (NodeId(3), Say::Election)]);
        let mut third = elector(3);
        third.tick(0);
        let said = third.hear(NodeId(1), Say::Election, 10);
        assert_eq!(said, [(NodeId(1), Say::Answer), (NodeId(1), Say::Coordinator)]);
        assert_eq!(elector(1).hear(NodeId(3), Say::Election, 0), [], "not our business");
    }

    #[test]
    fn a_lower_one_that_says_it_leads_is_put_right_by_the_leader_alone() {
        let mut third = elector(3);
        third.tick(0);
        let said = third.hear(NodeId(2), Say::Heartbeat, 10);
        assert_eq!(said, [(NodeId(2), Say::Coordinator)]);
        let mut second = elector(2);
        second.hear(NodeId(3), Say::Coordinator, 0);
        assert_eq!(second.hear(NodeId(1), Say::Heartbeat, 10), []);
        assert_eq!(second.leader(), Some(NodeId(3)));
    }

    #[test]
    fn of_two_leaders_the_higher_is_followed() {
        let mut first = elector(1);
        first.hear(NodeId(3), Say::Heartbeat, 0);
        first.hear(NodeId(2), Say::Coordinator, 10);
        assert_eq!(first.leader(), Some(NodeId(3)));
        first.tick(LEADER_SILENT_MS);
        assert_eq!(first.leader(), None, "the silent one is no leader any more");
        first.hear(NodeId(2), Say::Coordinator, LEADER_SILENT_MS);
        assert_eq!(first.leader(), Some(NodeId(2)));
    }

    #[test]
    fn strangers_are_not_heard() {
        let mut first = elector(1);
        first.hear(NodeId(9), Say::Coordinator, 0);
        assert_eq!(first.leader(), None);
    }
}
