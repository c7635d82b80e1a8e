//! Invariants, checked from outside: by who lives, who was heard by whom, and who was replaced.

use std::collections::BTreeMap;

use caudal_core::limits::{MISSES_MAX, PING_MS};
use caudal_monitor::{NodeId, Process};

use crate::network::Launch;
use crate::world::{Node, World};

/// After the faults there has to be one leader within this time, and everybody has to live.
const LEADER_MS_MAX: u64 = 6000;
const STRENGTH_MS_MAX: u64 = 20_000;
/// For so long afterwards nothing may change.
const STEADY_MS: u64 = 6000;
/// A node that was heard within this time answers.
const ANSWERS_MS: u64 = 2 * PING_MS;

#[derive(Debug, Default)]
pub struct Counts {
    pub kills: u64,
    pub freezes: u64,
    pub cuts: u64,
    pub lost: u64,
    pub revivals: u64,
    /// Processes that were replaced though they ran.
    pub replaced_alive: u64,
    pub leader_ms_max: u64,
    pub strength_ms_max: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.kills += other.kills;
        self.freezes += other.freezes;
        self.cuts += other.cuts;
        self.lost += other.lost;
        self.revivals += other.revivals;
        self.replaced_alive += other.replaced_alive;
        self.leader_ms_max = self.leader_ms_max.max(other.leader_ms_max);
        self.strength_ms_max = self.strength_ms_max.max(other.strength_ms_max);
    }

    /// A run without faults shows nothing.
    pub fn faults_happened(&self) {
        let counts =
            [self.kills, self.freezes, self.cuts, self.lost, self.revivals, self.replaced_alive];
        assert!(counts.iter().all(|count| *count > 100), "{self:?}");
    }
}

pub struct Watch {
    pub counts: Counts,
    /// No packet is lost but by a cut, so that nobody is missed by accident.
    is_lossless: bool,
    /// The last answer that each monitor got from each node.
    heard: BTreeMap<(NodeId, NodeId), (u64, Process)>,
    /// Each monitor with each process that it has ever heard.
    has_heard: std::collections::BTreeSet<(NodeId, u32)>,
    /// Running processes that were replaced since the last cut.
    replaced_since_cut: BTreeMap<NodeId, u32>,
}

impl Watch {
    pub fn new(is_lossless: bool) -> Self {
        Self {
            counts: Counts::default(),
            is_lossless,
            heard: BTreeMap::new(),
            has_heard: Default::default(),
            replaced_since_cut: BTreeMap::new(),
        }
    }

    pub fn cut(&mut self) {
        self.counts.cuts += 1;
        self.replaced_since_cut.clear();
    }

    pub fn heard(&mut self, monitor: NodeId, node: NodeId, process: Process, now_ms: u64) {
        self.heard.insert((monitor, node), (now_ms, process));
        self.has_heard.insert((monitor, process.pid));
    }

    /// A monitor wants a node revived: it must lead, and it must not be one that answers it.
    pub fn orders(&mut self, monitor: NodeId, leads: bool, node: NodeId, now_ms: u64) {
        assert!(leads, "{monitor:?} does not lead, and wants {node:?} revived");
        if let Some((heard_ms, _)) = self.heard.get(&(monitor, node)) {
            let silent_ms = now_ms - heard_ms;
            assert!(silent_ms > ANSWERS_MS, "{node:?} answered {monitor:?} {silent_ms} ms ago");
        }
    }

    /// A process is killed to make room for another.
    pub fn replaces(&mut self, launch: &Launch, node: &Node) {
        let Some(incarnation) = &node.incarnation else { return };
        if incarnation.frozen || incarnation.stuck {
            return;
        }
        self.counts.replaced_alive += 1;
        let (asker, pid) = (launch.asked_by, incarnation.process.pid);
        let knew = self.has_heard.contains(&(asker, pid));
        assert!(knew, "{asker:?} had {:?} replaced, whose process it never heard", launch.node);
        let replaced = self.replaced_since_cut.entry(launch.node).or_default();
        *replaced += 1;
        let most = if self.counts.cuts > 0 { 1 } else { 0 };
        if self.is_lossless {
            let node = launch.node;
            assert!(
                *replaced <= most,
                "{node:?} ran, and was replaced {replaced} times in one cut"
            );
        }
    }
}

impl World {
    /// The faults are over: one leader, the highest; everybody lives; and it stays so.
    pub fn settles(&mut self) {
        let began_ms = self.now_ms;
        // What was missed in the last cut still counts for so long.
        self.run_until(began_ms + (MISSES_MAX as u64 + 3) * PING_MS);
        let leader_ms = self.wait(LEADER_MS_MAX, "one leader, the highest", World::is_led);
        self.watch.counts.leader_ms_max = leader_ms - began_ms;
        let strength_ms = self.wait(STRENGTH_MS_MAX, "everybody lives", World::is_whole);
        self.watch.counts.strength_ms_max = strength_ms - began_ms;
        self.wait(LEADER_MS_MAX, "the highest of all leads", World::is_led);
        let (lives, until_ms) = (self.lives(), self.now_ms + STEADY_MS);
        while self.now_ms < until_ms {
            self.run_until(self.now_ms + 100);
            assert!(self.is_led(), "the leader changed without a reason");
            assert_eq!(self.lives(), lives, "somebody was replaced without a reason");
        }
    }

    fn wait(&mut self, timeout_ms: u64, what: &str, is_so: fn(&World) -> bool) -> u64 {
        let until_ms = self.now_ms + timeout_ms;
        while !is_so(self) {
            assert!(self.now_ms < until_ms, "not within {timeout_ms} ms: {what}");
            self.run_until(self.now_ms + 50);
        }
        self.now_ms
    }

    /// Every monitor that runs follows the highest of them.
    fn is_led(&self) -> bool {
        let runs = |(id, node): (&NodeId, &Node)| {
            let incarnation =
                node.incarnation.as_ref().filter(|incarnation| !incarnation.frozen)?;
            Some((*id, incarnation.state.as_ref()?.leader()))
        };
        let followed: Vec<_> = self.nodes.iter().filter_map(runs).collect();
        let highest = followed.iter().map(|(id, _)| *id).max();
        followed.iter().all(|(_, leader)| *leader == highest)
    }

    fn is_whole(&self) -> bool {
        self.nodes.values().all(|node| {
            node.incarnation.as_ref().is_some_and(|incarnation| {
                let thinks = incarnation.state.is_some() || !node.peer.is_monitor;
                !incarnation.frozen && !incarnation.stuck && thinks
            })
        })
    }

    fn lives(&self) -> Vec<Option<u32>> {
        self.nodes
            .values()
            .map(|node| node.incarnation.as_ref().map(|incarnation| incarnation.process.pid))
            .collect()
    }
}
