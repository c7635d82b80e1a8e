//! Faults and their times, all drawn from the seed before the run.

use fastrand::Rng;

/// Time at which the faults are over.
const FAULTS_MS: u64 = 15_000;

pub struct Schedule {
    /// The host of each monitor, and of each other node.
    pub monitor_hosts: Vec<usize>,
    pub node_hosts: Vec<usize>,
    pub network: Network,
    /// In order of time.
    pub faults: Vec<(u64, Fault)>,
    pub quiet_ms: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Network {
    pub loss: f64,
    pub duplication: f64,
    pub delay_ms_max: u64,
    /// Now and then a process gets no processor.
    pub stalls: bool,
}

#[derive(Clone, Debug)]
pub enum Fault {
    /// These, as many as leave one monitor on each host.
    Kill(Vec<usize>),
    Freeze(usize),
    Thaw(usize),
    /// Its main loop moves no more; it still answers, and says so.
    Stick(usize),
    /// Hosts by group: those of different groups hear nothing of each other.
    Partition(Vec<usize>),
    /// One node hears nobody, not even on its own host, though it can be started: as a container without
    /// its network.
    Isolate(usize),
    Heal,
}

impl Schedule {
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let hosts = rng.usize(1..=3);
        let monitors = rng.usize(2..=4).max(hosts);
        let nodes = rng.usize(1..=4);
        let mut monitor_hosts: Vec<usize> = (0..monitors).map(|n| n % hosts).collect();
        rng.shuffle(&mut monitor_hosts);
        let node_hosts: Vec<usize> = (0..nodes).map(|_| rng.usize(..hosts)).collect();
        let lossy = rng.bool();
        let network = Network {
            loss: if lossy { rng.f64() * 0.2 } else { 0.0 },
            duplication: if rng.bool() { 0.2 } else { 0.0 },
            delay_ms_max: rng.choice([2, 20, 200, 400]).unwrap(),
            stalls: rng.bool(),
        };
        let mut faults: Vec<_> = (0..rng.usize(1..=10))
            .map(|_| (rng.u64(500..FAULTS_MS), draw(&mut rng, monitors + nodes, hosts)))
            .collect();
        faults.sort_by_key(|(at_ms, _)| *at_ms);
        Self { monitor_hosts, node_hosts, network, faults, quiet_ms: FAULTS_MS }
    }
}

fn draw(rng: &mut Rng, all: usize, hosts: usize) -> Fault {
    let any = rng.usize(..all);
    match rng.u32(..10) {
        0..3 => {
            let mut victims: Vec<usize> = (0..all).collect();
            rng.shuffle(&mut victims);
            victims.truncate(if rng.bool() { 1 } else { rng.usize(1..=all) });
            Fault::Kill(victims)
        }
        3 => Fault::Freeze(any),
        4 => Fault::Thaw(any),
        5 => Fault::Stick(any),
        6 | 7 if hosts > 1 => Fault::Partition((0..hosts).map(|_| rng.usize(..2)).collect()),
        6 | 7 => Fault::Isolate(any),
        8 => Fault::Isolate(any),
        _ => Fault::Heal,
    }
}
