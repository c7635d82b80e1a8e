//! The nodes of a cluster on this machine: how many, where they answer, what they are called with.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::path::PathBuf;

use caudal_core::{codes, limits};
use caudal_monitor::NodeId;
use caudal_monitor::members::{Launch, Member, Role};
use caudal_worker::memory;

use crate::cluster::args::UpArgs;
use crate::cluster::state::Cluster;
use crate::error::Failed;

/// Ports at which health checks are answered: below those that the system gives to outgoing connections, so
/// that a node that comes back finds its own free.
const HEALTH_PORTS: Range<u16> = 12_000..19_900;
const HERE: &str = "127.0.0.1";

/// Nodes, each after those that it needs: the broker first, the monitors, of whom the last leads, last.
pub fn plan(cluster: &Cluster, args: &UpArgs) -> Result<Vec<Member>, Failed> {
    let cannot =
        |error| Failed::new(codes::NODE_DID_NOT_START, format!("cannot start nodes: {error}"));
    let program = std::env::current_exe().map_err(cannot)?;
    let brokers = u32::from(args.broker.is_none());
    let total = brokers + args.gateways + args.workers + args.monitors;
    let ports = free_ports(total as usize).ok_or_else(|| {
        Failed::new(codes::NODE_DID_NOT_START, "no port is free for health checks")
    })?;
    let mut planning = Planning { cluster, args, program, ports, members: vec![] };
    (1..=brokers).for_each(|number| planning.add(Role::Broker, number, &[], None));
    (1..=args.gateways).for_each(|number| planning.gateway(number));
    (1..=args.workers).for_each(|number| planning.worker(number));
    (1..=args.monitors).for_each(|number| planning.add(Role::Monitor, number, &[], None));
    Ok(planning.members)
}

struct Planning<'a> {
    cluster: &'a Cluster,
    args: &'a UpArgs,
    program: PathBuf,
    ports: Vec<u16>,
    members: Vec<Member>,
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// Of a session whose client does not say: as many as can be worked on at once. Each more is a message more for every
/// fragment.
fn shards(workers: u32, cores: u32) -> u32 {
    workers.min(cores).clamp(2, limits::UP_SHARDS_MAX)
}

impl Planning<'_> {
    fn gateway(&mut self, number: u32) {
        let listen = format!("{HERE}:{}", u32::from(self.args.port) + number - 1);
        let (sessions, grace) = (self.args.sessions.to_string(), self.args.grace.to_string());
        let shards = shards(self.args.workers, cores()).to_string();
        let tokens = self.args.tokens.as_ref().map(|tokens| tokens.display().to_string());
        let mut more = vec!["--listen", &listen, "--sessions", &sessions, "--grace", &grace];
        more.extend(["--shards", &shards]);
        if let Some(tokens) = &tokens {
            more.extend(["--tokens", tokens]);
        }
        self.add(Role::Gateway, number, &more, Some(&listen));
    }

    fn worker(&mut self, number: u32) {
        let threads = self.args.threads.unwrap_or((cores() / self.args.workers).max(1));
        let memory = memory::default_bytes() / self.args.workers as usize;
        let (threads, memory) = (threads.to_string(), memory.to_string());
        self.add(Role::Worker, number, &["--threads", &threads, "--memory", &memory], None);
    }

    fn add(&mut self, role: Role, number: u32, more: &[&str], listen: Option<&str>) {
        let name = format!("{role}-{number}");
        let folder = self.cluster.folder().path().display().to_string();
        let kind = role.to_string();
        let mut arguments = vec![&*kind, "--name", &name, "--cluster", &folder];
        if matches!(role, Role::Gateway | Role::Worker) {
            // The broker's address may hold a password, and all users of a machine see arguments: nodes find it in the
            // cluster file.
            arguments.extend(["--store", &self.cluster.store]);
        }
        arguments.extend(more);
        let arguments = arguments.into_iter().map(String::from).collect();
        let member = Member {
            id: NodeId(self.members.len() as u32 + 1),
            role,
            host: "localhost".to_string(),
            health: format!("{HERE}:{}", self.ports[self.members.len()]),
            launch: Launch::Process { program: self.program.clone(), arguments },
            listen: listen.map(String::from),
            name,
        };
        self.members.push(member);
    }
}

/// Free for UDP and for TCP.
fn free_ports(count: usize) -> Option<Vec<u16>> {
    let mut candidates: Vec<u16> = HEALTH_PORTS.collect();
    fastrand::shuffle(&mut candidates);
    let is_free = |port: &u16| {
        let address = (Ipv4Addr::LOCALHOST, *port);
        UdpSocket::bind(address).is_ok() && TcpListener::bind(address).is_ok()
    };
    let ports: Vec<u16> = candidates.into_iter().filter(is_free).take(count).collect();
    (ports.len() == count).then_some(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_shards_than_workers_or_cores_but_two() {
        assert_eq!([shards(4, 2), shards(8, 64), shards(64, 8)], [2, 8, 8]);
        assert_eq!([shards(1, 1), shards(256, 256)], [2, 64]);
    }
}
