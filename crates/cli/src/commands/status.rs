//! `caudal status`: the nodes of a cluster on this machine.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use caudal_core::{codes, limits};
use caudal_monitor::members::{Member, Role};
use caudal_monitor::probe::probe;
use caudal_monitor::wire::{Health, NodeState};
use caudal_monitor::{NodeId, Process};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::Done;
use crate::cluster::args::{PlaceArgs, StatusArgs};
use crate::cluster::state::Cluster;
use crate::error::{Failed, Told};

/// Time that nodes have to answer, one that is busy included.
const TIMEOUT: Duration = Duration::from_millis(limits::STATUS_MS_MAX);

pub fn run(args: StatusArgs) -> Done {
    let cluster = load(&args.place)?;
    let status = Status::of_all(&cluster)?;
    writeln!(std::io::stdout().lock(), "{}", status.table(&cluster))?;
    let lost = status.nodes.iter().filter(|node| node.state != "up").count();
    if lost > 0 {
        let message = format!("{lost} of {} nodes are not up", status.nodes.len());
        return Err(Failed::new(codes::NODES_NOT_UP, message));
    }
    Ok(())
}

pub fn load(place: &PlaceArgs) -> Result<Cluster, Failed> {
    Cluster::load(&place.dir)?.ok_or_else(|| {
        Failed::new(codes::NO_CLUSTER, format!("no cluster in {}", place.dir.display()))
            .hint("caudal up starts one; --dir names its folder".to_string())
    })
}

/// State of a cluster, as its nodes and this machine report it.
pub struct Status {
    pub nodes: Vec<NodeStatus>,
    /// Leader that all monitors which answer follow.
    pub leader: Option<NodeId>,
}

pub struct NodeStatus {
    pub member: Member,
    pub state: &'static str,
    pub process: Option<Process>,
    pub restarts: u32,
    /// Computation that it has been at for long, in words.
    pub work: Option<String>,
}

impl Status {
    pub fn of_all(cluster: &Cluster) -> Result<Self, Failed> {
        let all: Vec<&Member> = cluster.members.nodes.iter().collect();
        Self::of(cluster, &all)
    }

    pub fn of(cluster: &Cluster, nodes: &[&Member]) -> Result<Self, Failed> {
        let secret = cluster.folder().secret().told()?;
        let answers = probe(nodes, &secret, TIMEOUT)?;
        let monitors = nodes.iter().filter(|node| node.role == Role::Monitor);
        let mut leaders = monitors.filter_map(|node| Some(answers.get(&node.id)?.leader));
        let first = leaders.next().flatten();
        let leader = first.filter(|first| leaders.all(|leader| leader == Some(*first)));
        let nodes = nodes.iter().map(|node| NodeStatus::of(cluster, node, &answers)).collect();
        Ok(Self { nodes, leader })
    }

    pub fn table(&self, cluster: &Cluster) -> String {
        let mut table = Table::new();
        table.load_preset(NOTHING);
        let header = ["node", "role", "state", "address", "pid", "uptime", "restarts", "memory"];
        table.set_header(header);
        for node in &self.nodes {
            let member = &node.member;
            let leads = self.leader == Some(member.id);
            let process = node.process;
            let memory = process.and_then(Process::resident_bytes);
            table.add_row([
                member.name.clone(),
                if leads { "monitor, leads".to_string() } else { member.role.to_string() },
                node.state.to_string(),
                member.listen.clone().unwrap_or_default(),
                process.map(|process| process.pid.to_string()).unwrap_or_default(),
                process.and_then(Process::uptime).map(duration).unwrap_or_default(),
                node.restarts.to_string(),
                memory.map(|bytes| format!("{} MB", bytes / 1_000_000)).unwrap_or_default(),
            ]);
        }
        for column in 4..header.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let (broker, store) = (without_password(&cluster.broker), &cluster.store);
        let works = self.nodes.iter().filter_map(|node| {
            Some(format!("\n{} computes {}", node.member.name, node.work.as_ref()?))
        });
        let works: String = works.collect();
        format!("{table}{works}\nbroker {broker}{}\nstore  {store}", rabbit(cluster))
    }
}

impl NodeStatus {
    fn of(cluster: &Cluster, member: &Member, answers: &BTreeMap<NodeId, Health>) -> Self {
        let folder = cluster.folder();
        let process = folder.processes(&member.name).first().copied();
        let given_up = answers.values().any(|health| health.given_up.contains(&member.id));
        let state = match answers.get(&member.id).map(|health| health.state) {
            Some(NodeState::Running) => "up",
            Some(NodeState::Starting) => "starting",
            Some(NodeState::Stuck) => "stuck",
            None if given_up => "given up",
            None if process.is_some_and(Process::is_frozen) => "frozen",
            None if process.is_some() => "silent",
            None => "gone",
        };
        let launches = folder.launched(&member.name).map_or(0, |launched| launched.launches);
        let work = answers.get(&member.id).and_then(|health| health.work.clone());
        let (member, restarts) = (member.clone(), launches.saturating_sub(1));
        Self { member, state, process, restarts, work }
    }
}

/// The address of a broker, for others to see.
fn without_password(url: &str) -> String {
    match url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1)))
    {
        Some((scheme, host)) => format!("{scheme}://{host}"),
        None => url.to_string(),
    }
}

/// The process of the RabbitMQ that it has of its own, for those who want to see it or kill it.
fn rabbit(cluster: &Cluster) -> String {
    let Ok(Some(rabbit)) = cluster.rabbit() else { return String::new() };
    match (rabbit.pid(), rabbit.rss_bytes()) {
        (Some(pid), Some(bytes)) => format!("  (RabbitMQ, pid {pid}, {} MB)", bytes / 1_000_000),
        _ => String::new(),
    }
}

fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
