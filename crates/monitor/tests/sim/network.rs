//! Links between nodes, and the packets on their way.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use caudal_monitor::detect::Pong;
use caudal_monitor::launch::Outcome;
use caudal_monitor::state::Message;
use caudal_monitor::{NodeId, Process};
use fastrand::Rng;

use crate::faults;

/// Something that will happen.
#[derive(Clone, Debug)]
pub enum Due {
    /// A process starts, or a monitor thinks: of this incarnation only.
    Starts {
        node: NodeId,
        process: Process,
    },
    Tick {
        node: NodeId,
        process: Process,
    },
    Arrives {
        to: NodeId,
        packet: Packet,
    },
    LaunchBegins {
        by: (NodeId, Process),
        launch: Launch,
    },
    LaunchEnds {
        by: (NodeId, Process),
        launch: Launch,
    },
    Launched {
        by: (NodeId, Process),
        launch: Launch,
        outcome: Outcome,
    },
}

#[derive(Clone, Debug)]
pub struct Launch {
    pub node: NodeId,
    pub dead: Option<Process>,
    pub asked_by: NodeId,
}

#[derive(Clone, Debug)]
pub enum Packet {
    Ping { from: NodeId, nonce: u64 },
    Pong(Pong),
    Envelope { from: NodeId, message: Message },
}

pub struct Queue {
    due: BinaryHeap<Reverse<(u64, u64)>>,
    what: std::collections::HashMap<u64, Due>,
    next: u64,
}

impl Queue {
    pub fn new() -> Self {
        Self { due: BinaryHeap::new(), what: Default::default(), next: 0 }
    }

    pub fn push(&mut self, at_ms: u64, what: Due) {
        self.due.push(Reverse((at_ms, self.next)));
        self.what.insert(self.next, what);
        self.next += 1;
    }

    pub fn pop_until(&mut self, until_ms: u64) -> Option<(u64, Due)> {
        let Reverse((at_ms, number)) = *self.due.peek()?;
        if at_ms > until_ms {
            return None;
        }
        self.due.pop();
        Some((at_ms, self.what.remove(&number).unwrap()))
    }
}

pub struct Links {
    pub network: faults::Network,
    pub groups: Vec<usize>,
    pub isolated: BTreeSet<NodeId>,
    pub lost: u64,
}

impl Links {
    pub fn connects(&self, a: (NodeId, usize), b: (NodeId, usize)) -> bool {
        let is_cut_off = self.isolated.contains(&a.0) || self.isolated.contains(&b.0);
        !is_cut_off && self.groups[a.1] == self.groups[b.1]
    }

    /// Times at which the copies of a packet arrive.
    pub fn arrivals(&mut self, rng: &mut Rng) -> Vec<u64> {
        let copies = if rng.f64() < self.network.duplication { 2 } else { 1 };
        let mut arrivals = vec![];
        for _ in 0..copies {
            if rng.f64() < self.network.loss {
                self.lost += 1;
            } else {
                arrivals.push(rng.u64(0..=self.network.delay_ms_max));
            }
        }
        arrivals
    }
}
