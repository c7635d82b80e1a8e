//! A cluster that `caudal up` has started, with monitors; seen through its folder and its health checks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use caudal_monitor::Process;
use caudal_monitor::folder::Folder;
use caudal_monitor::members::{Launch, Member, Members};
use caudal_monitor::probe::probe;
use caudal_monitor::wire::{Health, NodeState};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::harness::{Client, TIMEOUT, alone, broker, caudal, free_port};

pub struct Watched {
    pub temporary: TempDir,
    pub folder: Folder,
    pub members: Members,
    _alone: MutexGuard<'static, ()>,
}

impl Watched {
    /// Two gateways, two workers, three monitors, on the broker that all tests share.
    pub fn up(environment: &[(&str, &str)]) -> Self {
        Self::up_on(&["--broker", &broker().url()], environment)
    }

    /// The same, on a RabbitMQ of its own.
    pub fn up_with_rabbit() -> Self {
        Self::up_with_rabbit_and(&[])
    }

    /// The same, with options of `up`.
    pub fn up_with_rabbit_and(options: &[&str]) -> Self {
        Self::up_on(options, &[])
    }

    /// In the same folder, after all nodes have died.
    pub fn up_again(&self) -> Output {
        let port = free_port().to_string();
        caudal()
            .args(["up", "--detach", "--port", &port, "--dir"])
            .arg(self.folder.path())
            .output()
            .unwrap()
    }

    fn up_on(options: &[&str], environment: &[(&str, &str)]) -> Self {
        let alone = alone();
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("cluster");
        let mut up = caudal();
        up.args(["up", "--detach", "--workers", "2", "--gateways", "2", "--threads", "1"]);
        up.args(options).args(["--port", &free_port().to_string(), "--dir"]);
        up.arg(&path).envs(environment.iter().copied());
        let output = up.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let folder = Folder::new(path);
        let members = folder.members().unwrap();
        Self { temporary, folder, members, _alone: alone }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    pub fn names(&self) -> Vec<String> {
        self.members.nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// Health of the nodes, as they report it.
    pub fn health(&self) -> BTreeMap<String, Health> {
        let nodes: Vec<&Member> = self.members.nodes.iter().collect();
        let secret = self.folder.secret().unwrap();
        let answers = probe(&nodes, &secret, Duration::from_millis(300)).unwrap();
        answers.into_values().map(|health| (health.from.clone(), health)).collect()
    }

    pub fn process(&self, name: &str) -> Process {
        let processes = self.folder.processes(name);
        assert_eq!(processes.len(), 1, "{name}: {processes:?}");
        processes[0]
    }

    pub fn signal(&self, name: &str, signal: Signal) -> Process {
        let process = self.process(name);
        process.signal(signal);
        process
    }

    /// Kills all of these at once, and says which processes they were.
    pub fn kill(&self, names: &[String]) -> Vec<Process> {
        let processes: Vec<Process> = names.iter().map(|name| self.process(name)).collect();
        processes.iter().for_each(|process| process.signal(Signal::KILL));
        for process in &processes {
            assert!(process.wait(TIMEOUT));
        }
        processes
    }

    /// Waits until every node runs, none of them as one of `gone`, and the highest monitor leads them all.
    pub fn is_whole_without(&self, gone: &[Process]) -> Duration {
        let began = Instant::now();
        while !self.is_whole(gone) {
            let waited = began.elapsed();
            assert!(waited < TIMEOUT, "{:#?}\nwithout {gone:?}\n{}", self.health(), self.logs());
            std::thread::sleep(Duration::from_millis(10));
        }
        began.elapsed()
    }

    fn is_whole(&self, gone: &[Process]) -> bool {
        let health = self.health();
        let leader = self.members.monitors().map(|node| node.id).max();
        let mut nodes = self.members.nodes.iter();
        nodes.all(|node| {
            health.get(&node.name).is_some_and(|health| {
                let follows = health.leader == leader || !node.name.starts_with("monitor");
                health.state == NodeState::Running && !gone.contains(&health.process) && follows
            })
        })
    }

    /// One process for each node, whatever the files say.
    pub fn nobody_is_there_twice(&self) {
        let marker = self.folder.path().display().to_string();
        let mut counts: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(line) = std::fs::read_to_string(entry.path().join("cmdline")) else { continue };
            let words: Vec<&str> = line.split('\0').collect();
            if words.contains(&&*marker)
                && let Some(at) = words.iter().position(|word| *word == "--name")
            {
                let pid = entry.file_name().to_str().unwrap().parse().unwrap();
                counts.entry(words[at + 1].to_string()).or_default().push(pid);
            }
        }
        let names: Vec<String> = counts.keys().cloned().collect();
        let mut expected = self.names();
        expected.sort();
        assert_eq!(names, expected);
        assert!(counts.values().all(|pids| pids.len() == 1), "{counts:?}");
    }

    /// Whether shards have written something down that is not yet removed.
    pub fn has_records(&self) -> bool {
        let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
        entries(self.folder.path().join("store/sessions"))
            .flat_map(|session| entries(session.path().join("shards")))
            .any(|shard| entries(shard.path().join("log")).next().is_some())
    }

    pub fn restarts(&self, name: &str) -> u32 {
        self.folder.launched(name).unwrap().launches - 1
    }

    /// Starts a node by hand, as a launcher would, with an environment of its own.
    pub fn start(&self, name: &str, environment: &[(&str, &str)]) {
        let Launch::Process { program, arguments } = &self.members.named(name).unwrap().launch
        else {
            panic!("{name} is no process");
        };
        let mut command = std::process::Command::new(program);
        command.args(arguments).envs(environment.iter().copied());
        Process::start(&mut command, &self.folder.log(name)).unwrap();
    }

    pub fn gateways(&self) -> String {
        let nodes = self.members.nodes.iter();
        let gateways: Vec<&str> = nodes.filter_map(|node| node.listen.as_deref()).collect();
        gateways.join(",")
    }

    pub fn client(&self, suite: &str, data: &std::path::Path, out: &str) -> Client {
        let mut command = caudal();
        command.args(["run", suite, "--data"]).arg(data).arg("--out").arg(self.path(out));
        command.args(["--gateway", &self.gateways()]);
        Client::start(command, &self.path(&format!("{out}.log")))
    }

    pub fn command(&self, name: &str) -> Output {
        caudal().args([name, "--dir"]).arg(self.folder.path()).output().unwrap()
    }

    pub fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.log(name)).unwrap()
    }

    pub fn logs(&self) -> String {
        self.members.monitors().map(|node| self.log(&node.name)).collect()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.folder.stop_launches();
        let _ = self.command("down");
        if std::thread::panicking() {
            let kept = self.temporary.path().with_extension("kept");
            let _ = std::fs::rename(self.temporary.path(), &kept);
            eprintln!("logs are in {}", kept.join("cluster/logs").display());
        }
    }
}
