//! Monitors on three machines, which are network namespaces here: a partition leaves each side with a leader,
//! healing leaves one, and nobody is brought back who was only cut off.

use std::path::Path;
use std::time::{Duration, Instant};

use caudal_monitor::NodeId;
use caudal_monitor::Process;
use caudal_monitor::folder::Folder;
use caudal_monitor::members::{Launch, Member, Members, Role};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::harness::{TIMEOUT, alone, caudal, wait_until};
use crate::machines::Machines;

const TEST: &str = "a partitioned cluster";
const HOSTS: [&str; 3] = ["a", "b", "c"];
const MONITORS_EACH: u32 = 2;
/// Longer than it takes to find somebody dead and to bring it back.
const A_WHILE: Duration = Duration::from_secs(5);

#[test]
fn a_partition_has_a_leader_on_each_side_and_healing_leaves_one() {
    let _alone = alone();
    let Some(machines) = Machines::for_test(TEST, &HOSTS) else { return };
    let cluster = Spread::start(&machines);
    for host in HOSTS {
        cluster.follows(host, "monitor-6");
    }
    // The leader is on another machine than the dead: it asks a monitor there.
    cluster.comes_back("worker-a");
    assert_eq!(cluster.restarts(), [1, 0, 0]);

    machines.cut_off("c");
    cluster.follows("a", "monitor-4");
    cluster.follows("b", "monitor-4");
    cluster.follows("c", "monitor-6");
    std::thread::sleep(A_WHILE);
    assert_eq!(cluster.restarts(), [1, 0, 0], "somebody was brought back who was only cut off");
    // Each side takes care of its own.
    cluster.comes_back("worker-b");
    cluster.comes_back("worker-c");
    cluster.comes_back("monitor-5");
    cluster.follows("a", "monitor-4");

    machines.reconnect("c");
    for host in HOSTS {
        cluster.follows(host, "monitor-6");
    }
    std::thread::sleep(A_WHILE);
    assert_eq!(cluster.restarts(), [1, 1, 1], "healing brought somebody back");
    cluster.comes_back("worker-b");
    assert_eq!(cluster.restarts(), [1, 2, 1]);
}

/// Two monitors and a worker on each machine. The workers look for a broker, and answer meanwhile.
struct Spread<'a> {
    machines: &'a Machines,
    _temporary: TempDir,
    folder: Folder,
    members: Members,
}

impl<'a> Spread<'a> {
    fn start(machines: &'a Machines) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        folder.prepare().unwrap();
        let members = Members { nodes: members(machines, temporary.path()) };
        let mut file = serde_json::to_value(&members).unwrap();
        file["broker"] = "".into();
        file["store"] = "".into();
        std::fs::write(temporary.path().join("cluster.json"), file.to_string()).unwrap();
        let cluster = Self { machines, _temporary: temporary, folder, members };
        for node in &cluster.members.nodes {
            let Launch::Process { program, arguments } = &node.launch else { unreachable!() };
            let mut command = machines.on(&node.host, program);
            Process::start(command.args(arguments), &cluster.folder.log(&node.name)).unwrap();
        }
        cluster
    }

    /// Waits until all monitors that a machine can hear follow this one.
    fn follows(&self, host: &str, leader: &str) {
        let began = Instant::now();
        wait_until(&format!("{host} follows {leader}"), || {
            let mut status = self.machines.on(host, Path::new(caudal().get_program()));
            let output = status.args(["status", "--dir"]).arg(self.folder.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.lines().any(|line| line.contains(leader) && line.contains("leads"))
        });
        println!("{host} follows {leader} after {:.2?}", began.elapsed());
    }

    /// Kills a node and waits until another process is the node.
    fn comes_back(&self, name: &str) {
        let process = self.process(name);
        process.signal(Signal::KILL);
        assert!(process.wait(TIMEOUT));
        let began = Instant::now();
        wait_until(&format!("{name} is back"), || !self.folder.processes(name).is_empty());
        println!("{name}: killed, back after {:.2?}", began.elapsed());
        assert_ne!(self.process(name), process);
    }

    fn process(&self, name: &str) -> Process {
        let processes = self.folder.processes(name);
        assert_eq!(processes.len(), 1, "{name}: {processes:?}");
        processes[0]
    }

    /// Number of times that each worker has been launched: we started the first of them by hand.
    fn restarts(&self) -> [u32; 3] {
        HOSTS.map(|host| {
            let launched = self.folder.launched(&format!("worker-{host}"));
            launched.map_or(0, |launched| launched.launches)
        })
    }
}

impl Drop for Spread<'_> {
    fn drop(&mut self) {
        let _ = self.folder.stop_launches();
        for node in &self.members.nodes {
            let _lock = self.folder.launch_lock(&node.name, TIMEOUT);
            for process in self.folder.processes(&node.name) {
                process.signal(Signal::KILL);
                process.wait(TIMEOUT);
            }
        }
        if std::thread::panicking() {
            for node in self.members.monitors() {
                let log = std::fs::read_to_string(self.folder.log(&node.name));
                eprintln!("{}:\n{}", node.name, log.unwrap_or_default());
            }
        }
    }
}

fn members(machines: &Machines, folder: &Path) -> Vec<Member> {
    let folder = folder.display().to_string();
    let member = |id: u32, role: Role, name: String, at: usize, more: &[&str]| {
        let kind = role.to_string();
        let common = [&*kind, "--name", &name, "--cluster", &folder];
        let arguments = common.iter().chain(more).map(|word| word.to_string()).collect();
        let launch = Launch::Process { program: caudal().get_program().into(), arguments };
        let health = format!("{}:{}", machines.address(HOSTS[at]), 7000 + id);
        let host = HOSTS[at].to_string();
        Member { id: NodeId(id), name, role, host, health, launch, listen: None }
    };
    let mut members = vec![];
    for (at, host) in HOSTS.iter().enumerate() {
        let name = format!("worker-{host}");
        let more = ["--broker", "amqp://10.77.0.99:5672", "--store", "memory:"];
        members.push(member(100 + at as u32, Role::Worker, name, at, &more));
        for number in 1..=MONITORS_EACH {
            let id = at as u32 * MONITORS_EACH + number;
            members.push(member(id, Role::Monitor, format!("monitor-{id}"), at, &[]));
        }
    }
    members
}
