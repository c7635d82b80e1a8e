//! The simulated machines: processes that live, freeze and die; monitors run the real `MonitorState`, launches the
//! real `decide`.

use std::collections::{BTreeMap, BTreeSet};

use caudal_core::limits::MONITOR_TICK_MS;
use caudal_monitor::detect::Pong;
use caudal_monitor::launch::{Decision, Host, Outcome, decide};
use caudal_monitor::state::{Action, Event, Message, MonitorState, Peer};
use caudal_monitor::{NodeId, Process};
use fastrand::Rng;

use crate::faults::{Fault, Network, Schedule};
use crate::network::{Due, Launch, Links, Packet, Queue};
use crate::watch::{Counts, Watch};

/// The longest a process needs before it answers.
const START_MS_MAX: u64 = 800;
const LAUNCH_MS_MAX: u64 = 200;

pub struct World {
    pub now_ms: u64,
    pub nodes: BTreeMap<NodeId, Node>,
    pub links: Links,
    pub watch: Watch,
    queue: Queue,
    rng: Rng,
    pids: u32,
    loud: bool,
}

pub struct Node {
    pub peer: Peer,
    pub host: usize,
    pub incarnation: Option<Incarnation>,
    /// Launcher of the node: one at a time on a host, until it is done or dead.
    lock: Option<(NodeId, Process)>,
}

pub struct Incarnation {
    pub process: Process,
    pub frozen: bool,
    pub stuck: bool,
    started: bool,
    pub state: Option<MonitorState>,
    /// Events that fell due while it was frozen.
    backlog: Vec<Due>,
}

impl World {
    pub fn new(schedule: &Schedule, seed: u64, loud: bool) -> Self {
        let nodes = schedule.node_hosts.iter().map(|host| (false, *host));
        let all = nodes.chain(schedule.monitor_hosts.iter().map(|host| (true, *host)));
        let node = |(at, (is_monitor, host)): (usize, (bool, usize))| {
            let peer = Peer { is_monitor, host: host.to_string() };
            (NodeId(at as u32), Node { peer, host, incarnation: None, lock: None })
        };
        let nodes: BTreeMap<NodeId, Node> = all.enumerate().map(node).collect();
        let hosts = nodes.values().map(|node| node.host).max().unwrap() + 1;
        let links = Links {
            network: schedule.network,
            groups: vec![0; hosts],
            isolated: BTreeSet::new(),
            lost: 0,
        };
        let mut world = Self {
            now_ms: 0,
            watch: Watch::new(schedule.network.loss == 0.0),
            nodes,
            links,
            queue: Queue::new(),
            rng: Rng::with_seed(seed ^ 0x5eed),
            pids: 0,
            loud,
        };
        let ids: Vec<NodeId> = world.nodes.keys().copied().collect();
        ids.into_iter().for_each(|node| world.start(node));
        world
    }

    pub fn run_until(&mut self, until_ms: u64) {
        while let Some((at_ms, due)) = self.queue.pop_until(until_ms) {
            self.now_ms = at_ms;
            self.happens(due);
        }
        self.now_ms = until_ms;
    }

    pub fn strike(&mut self, fault: &Fault) {
        self.say(|| format!("{fault:?}"));
        let id = |at: &usize| NodeId(*at as u32);
        match fault {
            Fault::Kill(victims) => victims.iter().map(id).for_each(|victim| self.kill(victim)),
            Fault::Freeze(at) => {
                if !self.is_last_monitor(id(at)) {
                    self.with_incarnation(id(at), |incarnation| incarnation.frozen = true);
                    self.watch.counts.freezes += 1;
                }
            }
            Fault::Thaw(at) => self.thaw(id(at)),
            Fault::Stick(at) => {
                let is_monitor = self.nodes[&id(at)].peer.is_monitor;
                if !is_monitor {
                    self.with_incarnation(id(at), |incarnation| incarnation.stuck = true);
                }
            }
            Fault::Partition(groups) => {
                self.links.groups.clone_from(groups);
                self.watch.cut();
            }
            Fault::Isolate(at) => {
                self.links.isolated.insert(id(at));
                self.watch.cut();
            }
            Fault::Heal => self.reconnect(),
        }
    }

    /// No more faults; what is frozen stays so, for that is as good as dead.
    pub fn heal(&mut self) {
        self.say(|| "the faults are over".to_string());
        self.reconnect();
        let stalls = false;
        self.links.network = Network { loss: 0.0, duplication: 0.0, delay_ms_max: 5, stalls };
    }

    fn reconnect(&mut self) {
        self.links.groups.fill(0);
        self.links.isolated.clear();
    }

    pub fn counts(self) -> Counts {
        let mut counts = self.watch.counts;
        counts.lost += self.links.lost;
        counts
    }

    fn happens(&mut self, due: Due) {
        match due {
            Due::Starts { node, process } => self.starts(node, process),
            Due::Tick { node, process } => self.tick(node, process),
            Due::Arrives { to, packet } => self.arrives(to, packet),
            Due::LaunchBegins { by, launch } => self.launch_begins(by, launch),
            Due::LaunchEnds { by, launch } => self.launch_ends(by, launch),
            Due::Launched { by, launch, outcome } => self.launched(by, launch, outcome),
        }
    }

    fn start(&mut self, node: NodeId) {
        self.pids += 1;
        let process = Process { pid: self.pids, started: self.now_ms };
        let incarnation = Incarnation {
            process,
            frozen: false,
            stuck: false,
            started: false,
            state: None,
            backlog: vec![],
        };
        let before = self.nodes.get_mut(&node).unwrap().incarnation.replace(incarnation);
        assert!(before.is_none(), "two processes of {node:?}");
        let starts_ms = self.now_ms + self.rng.u64(20..START_MS_MAX);
        self.queue.push(starts_ms, Due::Starts { node, process });
    }

    fn starts(&mut self, node: NodeId, process: Process) {
        if self.nodes[&node].peer.is_monitor {
            let peers = self.nodes.iter().map(|(id, node)| (*id, node.peer.clone())).collect();
            let state = MonitorState::new(node, peers, self.rng.fork());
            let due = Due::Tick { node, process };
            self.of_incarnation(node, process, due.clone(), |incarnation| {
                incarnation.state = Some(state)
            });
            self.queue.push(self.now_ms, due);
        }
        self.of_incarnation(node, process, Due::Starts { node, process }, |incarnation| {
            incarnation.started = true
        });
    }

    fn tick(&mut self, node: NodeId, process: Process) {
        let due = Due::Tick { node, process };
        if !self.of_incarnation(node, process, due.clone(), |_| {}) {
            return;
        }
        self.tell(node, Event::Tick);
        let late_ms = match self.links.network.stalls {
            true if self.rng.u32(..100) == 0 => self.rng.u64(..2500),
            true => self.rng.u64(..MONITOR_TICK_MS),
            false => 0,
        };
        self.queue.push(self.now_ms + MONITOR_TICK_MS + late_ms, due);
    }

    fn arrives(&mut self, to: NodeId, packet: Packet) {
        let Some(incarnation) = &mut self.nodes.get_mut(&to).unwrap().incarnation else { return };
        if incarnation.frozen {
            if incarnation.backlog.len() < 200 {
                incarnation.backlog.push(Due::Arrives { to, packet });
            }
            return;
        }
        if !incarnation.started {
            return;
        }
        match packet {
            Packet::Ping { from, nonce } => {
                let (process, stuck) = (incarnation.process, incarnation.stuck);
                let pong = Pong { node: to, nonce, process, stuck };
                self.send(to, from, Packet::Pong(pong));
            }
            Packet::Pong(pong) => {
                if !pong.stuck {
                    self.watch.heard(to, pong.node, pong.process, self.now_ms);
                }
                self.tell(to, Event::Pong(pong));
            }
            Packet::Envelope { from, message } => self.tell(to, Event::Message { from, message }),
        }
    }

    fn tell(&mut self, monitor: NodeId, event: Event) {
        let incarnation = self.nodes.get_mut(&monitor).unwrap().incarnation.as_mut().unwrap();
        let process = incarnation.process;
        let Some(state) = &mut incarnation.state else { return };
        let actions = state.handle(event, self.now_ms);
        let leads = state.leads();
        for action in actions {
            match action {
                Action::Ping { node, nonce } => {
                    self.send(monitor, node, Packet::Ping { from: monitor, nonce });
                }
                Action::Send { to, message } => {
                    if let Message::Launch { node, .. } = message {
                        self.watch.orders(monitor, leads, node, self.now_ms);
                    }
                    self.send(monitor, to, Packet::Envelope { from: monitor, message });
                }
                Action::Launch { node, dead, asked_by } => {
                    if asked_by == monitor {
                        self.watch.orders(monitor, leads, node, self.now_ms);
                    }
                    let at_ms = self.now_ms + self.rng.u64(1..20);
                    let launch = Launch { node, dead, asked_by };
                    let by = (monitor, process);
                    self.queue.push(at_ms, Due::LaunchBegins { by, launch });
                }
                Action::Report(event) => self.say(|| format!("{monitor:?}: {event:?}")),
            }
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, packet: Packet) {
        let place = |node: NodeId| (node, self.nodes[&node].host);
        if !self.links.connects(place(from), place(to)) {
            return;
        }
        for after_ms in self.links.arrivals(&mut self.rng) {
            let packet = packet.clone();
            self.queue.push(self.now_ms + after_ms, Due::Arrives { to, packet });
        }
    }

    /// The launcher holds the lock; what stands in the way is killed.
    fn launch_begins(&mut self, by: (NodeId, Process), launch: Launch) {
        let due = Due::LaunchBegins { by, launch: launch.clone() };
        if !self.of_incarnation(by.0, by.1, due.clone(), |_| {}) {
            return;
        }
        let holder = self.nodes[&launch.node].lock;
        if holder.is_some_and(|holder| self.is_alive(holder)) {
            return self.queue.push(self.now_ms + 50, due);
        }
        let host = match &self.nodes[&launch.node].incarnation {
            None => Host::Gone,
            Some(incarnation) if incarnation.frozen => Host::Frozen(incarnation.process),
            Some(incarnation) => Host::Running(incarnation.process),
        };
        match decide(host, launch.dead) {
            Decision::LeaveAlone => self.reply(by, launch, Outcome::LeftAlone),
            decision => {
                if let Decision::Replace(_) = decision {
                    self.watch.replaces(&launch, &self.nodes[&launch.node]);
                    self.nodes.get_mut(&launch.node).unwrap().incarnation = None;
                }
                self.nodes.get_mut(&launch.node).unwrap().lock = Some(by);
                let at_ms = self.now_ms + self.rng.u64(1..LAUNCH_MS_MAX);
                self.queue.push(at_ms, Due::LaunchEnds { by, launch });
            }
        }
    }

    fn launch_ends(&mut self, by: (NodeId, Process), launch: Launch) {
        let due = Due::LaunchEnds { by, launch: launch.clone() };
        if !self.of_incarnation(by.0, by.1, due, |_| {}) {
            return;
        }
        self.nodes.get_mut(&launch.node).unwrap().lock = None;
        self.start(launch.node);
        self.watch.counts.revivals += 1;
        self.reply(by, launch, Outcome::Started);
    }

    fn reply(&mut self, by: (NodeId, Process), launch: Launch, outcome: Outcome) {
        self.queue.push(self.now_ms, Due::Launched { by, launch, outcome });
    }

    fn launched(&mut self, by: (NodeId, Process), launch: Launch, outcome: Outcome) {
        let due = Due::Launched { by, launch: launch.clone(), outcome: outcome.clone() };
        if self.of_incarnation(by.0, by.1, due, |_| {}) {
            let Launch { node, asked_by, .. } = launch;
            self.tell(by.0, Event::Launched { node, asked_by, outcome });
        }
    }

    /// Does something to a process that is still there; a frozen one does it when it thaws.
    fn of_incarnation(
        &mut self,
        node: NodeId,
        process: Process,
        due: Due,
        act: impl FnOnce(&mut Incarnation),
    ) -> bool {
        let Some(incarnation) = &mut self.nodes.get_mut(&node).unwrap().incarnation else {
            return false;
        };
        if incarnation.process != process {
            return false;
        }
        if incarnation.frozen {
            incarnation.backlog.push(due);
            return false;
        }
        act(incarnation);
        true
    }

    fn with_incarnation(&mut self, node: NodeId, act: impl FnOnce(&mut Incarnation)) {
        if let Some(incarnation) = &mut self.nodes.get_mut(&node).unwrap().incarnation {
            act(incarnation);
        }
    }

    fn kill(&mut self, node: NodeId) {
        if !self.is_last_monitor(node) && self.nodes[&node].incarnation.is_some() {
            self.nodes.get_mut(&node).unwrap().incarnation = None;
            self.watch.counts.kills += 1;
        }
    }

    fn thaw(&mut self, node: NodeId) {
        let Some(incarnation) = &mut self.nodes.get_mut(&node).unwrap().incarnation else { return };
        incarnation.frozen = false;
        for due in std::mem::take(&mut incarnation.backlog) {
            self.queue.push(self.now_ms, due);
        }
    }

    /// Nobody else could start anything on its host.
    fn is_last_monitor(&self, node: NodeId) -> bool {
        let host = self.nodes[&node].host;
        let lives = |other: &&Node| {
            let runs = other.incarnation.as_ref().is_some_and(|incarnation| !incarnation.frozen);
            other.peer.is_monitor && other.host == host && runs
        };
        self.nodes[&node].peer.is_monitor && self.nodes.values().filter(lives).count() < 2
    }

    fn is_alive(&self, (node, process): (NodeId, Process)) -> bool {
        self.nodes[&node]
            .incarnation
            .as_ref()
            .is_some_and(|incarnation| incarnation.process == process)
    }

    fn say(&self, what: impl FnOnce() -> String) {
        if self.loud {
            println!("{:>6} ms  {}", self.now_ms, what());
        }
    }
}
