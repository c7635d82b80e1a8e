//! Starts nodes with fail points, runs clients, compares with one process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use caudal_broker::rabbitmq::private::PrivateRabbit;
pub use caudal_testing::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Time that anything may take before it counts as a hang.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// Small bounds, so that little data reaches them: journals that are worth a snapshot.
const KNOBS: &str = "snapshot_records=6;record_linger_ms=10";

/// The broker that all tests share. It ends with this process.
pub fn broker() -> &'static PrivateRabbit {
    static BROKER: OnceLock<PrivateRabbit> = OnceLock::new();
    BROKER.get_or_init(|| {
        let folder = emptied("broker");
        let start = PrivateRabbit::start(&folder);
        block_on(start).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// A folder for all tests of this process. The next run finds it where this one left it, and empties it:
/// nothing removes what a process has to its end.
fn emptied(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster-{name}"));
    // The first run has none.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// One cluster at a time: the machine is small, and times are part of what is tested.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes of a cluster, and its folder.
pub struct Cluster {
    pub folder: TempDir,
    pub broker_url: String,
    pub gateways: Vec<String>,
    pub nodes: BTreeMap<String, Node>,
    pub gateway_options: Vec<String>,
    /// Queues that other tests have left on the broker that all share.
    queues_before: Vec<String>,
    _alone: MutexGuard<'static, ()>,
}

pub struct Node {
    pub child: Child,
    pub arguments: Vec<String>,
}

impl Cluster {
    /// A cluster without nodes.
    pub fn new() -> Self {
        let alone = alone();
        let folder = tempfile::tempdir().unwrap();
        for sub in ["store", "logs", "hits"] {
            fs::create_dir(folder.path().join(sub)).unwrap();
        }
        Self {
            folder,
            broker_url: broker().url(),
            gateways: vec![],
            nodes: BTreeMap::new(),
            gateway_options: vec![],
            queues_before: all_queues(),
            _alone: alone,
        }
    }

    /// A cluster of so many gateways and workers.
    pub fn of(gateways: usize, workers: usize) -> Self {
        Self::with_failpoints((gateways, ""), (workers, ""))
    }

    /// So many of each role, with the same fail points in all of a role.
    pub fn with_failpoints(gateways: (usize, &str), workers: (usize, &str)) -> Self {
        let mut cluster = Self::new();
        for _ in 0..gateways.0 {
            cluster.start_gateway(gateways.1);
        }
        for number in 1..=workers.0 {
            cluster.start_worker(&format!("worker-{number}"), workers.1);
        }
        cluster
    }

    pub fn start_worker(&mut self, name: &str, failpoints: &str) {
        let arguments = self.node_arguments("worker", name, &["--threads", "1"]);
        self.start(name, arguments, failpoints);
    }

    pub fn start_gateway(&mut self, failpoints: &str) -> String {
        let name = format!("gateway-{}", self.gateways.len() + 1);
        let address = format!("127.0.0.1:{}", free_port());
        let mut arguments =
            self.node_arguments("gateway", &name, &["--listen", &address, "--shards", "3"]);
        arguments.extend(self.gateway_options.clone());
        self.start(&name, arguments, failpoints);
        wait_until(&format!("{name} listens"), || std::net::TcpStream::connect(&address).is_ok());
        self.gateways.push(address);
        name
    }

    pub fn node_arguments(&self, role: &str, name: &str, more: &[&str]) -> Vec<String> {
        let store = self.path("store");
        let common = [role, "--name", name, "--broker", &self.broker_url, "--store"];
        let mut arguments: Vec<String> = common.into_iter().map(String::from).collect();
        arguments.push(store.display().to_string());
        arguments.extend(more.iter().map(|text| text.to_string()));
        arguments
    }

    pub fn start(&mut self, name: &str, arguments: Vec<String>, failpoints: &str) {
        let log = File::options().create(true).append(true).open(self.log_path(name)).unwrap();
        let child = caudal()
            .args(&arguments)
            .env("CAUDAL_FAILPOINT", failpoints)
            .env("CAUDAL_FAILPOINT_HITS", self.path("hits"))
            .env("CAUDAL_KNOBS", KNOBS)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.nodes.insert(name.to_string(), Node { child, arguments });
    }

    /// Starts a node that has ended, without fail points.
    pub fn restart(&mut self, name: &str) {
        let arguments = self.nodes[name].arguments.clone();
        self.start(name, arguments, "");
    }

    pub fn signal(&self, name: &str, signal: Signal) {
        kill(&self.nodes[name].child, signal);
    }

    /// Kills a node and waits until it is dead.
    pub fn kill(&mut self, name: &str) {
        self.signal(name, Signal::KILL);
        let status = self.nodes.get_mut(name).unwrap().child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{name}");
    }

    /// The node that died of a fail point: it was reached, and SIGKILL was the end.
    pub fn victim_of(&mut self, point: &str) -> Option<String> {
        let file = self.path("hits").join(point);
        let pid: u32 = fs::read_to_string(file).ok()?.parse().ok()?;
        for (name, node) in &mut self.nodes {
            if node.child.id() == pid {
                let status = node.child.wait().unwrap();
                assert_eq!(status.signal(), Some(9), "{name} at {point}");
                return Some(name.clone());
            }
        }
        panic!("{pid} is no node");
    }

    /// Resident memory of a node.
    pub fn rss_mb(&self, name: &str) -> u64 {
        rss_mb(self.nodes[name].child.id())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn log_path(&self, name: &str) -> PathBuf {
        self.path("logs").join(format!("{name}.log"))
    }

    /// Logs of all nodes.
    pub fn logs(&self) -> String {
        let files = fs::read_dir(self.path("logs")).unwrap();
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// Number of times that the nodes said something.
    pub fn said(&self, what: &str) -> usize {
        self.logs().matches(what).count()
    }

    /// The sum of `name=` in all lines of the logs.
    pub fn sum_of(&self, name: &str) -> u64 {
        let logs = strip_colors(&self.logs());
        let key = format!("{name}=");
        let values = logs.split_whitespace().filter_map(|word| word.strip_prefix(&key));
        values.filter_map(|value| value.parse::<u64>().ok()).sum()
    }

    /// Starts a client that answers a suite into `out`.
    pub fn client(&self, suite: &str, data: &Path, out: &str) -> Client {
        let gateways = self.gateways.join(",");
        let mut command = caudal();
        command.args(["run", suite, "--data"]).arg(data).arg("--out").arg(self.path(out));
        command.args(["--gateway", &gateways]);
        Client::start(command, &self.path(&format!("{out}.log")))
    }

    /// Runs a suite to its end and compares with one process.
    pub fn check(&self, suite: &str, data: &Data) {
        self.client(suite, &data.folder, "out").succeeds();
        data.compare(&self.path("out"));
    }

    /// Waits until nothing of any session is left, on the broker or in the store.
    pub fn nothing_is_left(&self) {
        wait_until("sessions are removed", || {
            let left = |name: &str| {
                let folder = fs::read_dir(self.path("store").join(name));
                folder.map_or(0, |entries| entries.count())
            };
            left("sessions") == 0 && left("slots") == 0
        });
        wait_until("queues are removed", || self.queues().is_empty());
    }

    /// Number of records that the shards of all sessions have written.
    pub fn records(&self) -> usize {
        let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        entries(self.path("store/sessions"))
            .flat_map(|session| entries(session.path().join("shards")))
            .map(|shard| entries(shard.path().join("log")).count())
            .sum()
    }

    pub fn queues(&self) -> Vec<String> {
        let mut queues = all_queues();
        queues.retain(|queue| !self.queues_before.contains(queue));
        queues
    }
}

fn all_queues() -> Vec<String> {
    let queues = block_on(broker().queues()).unwrap().into_iter();
    queues.map(|(name, _)| name).filter(|name| is_of_a_session(name)).collect()
}

/// A node has a queue as well, by which it holds its name for as long as it lives.
pub fn is_of_a_session(queue: &str) -> bool {
    queue.starts_with("caudal.") && !queue.starts_with("caudal.node.")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in self.nodes.values_mut() {
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
        if std::thread::panicking() {
            let kept = self.folder.path().with_extension("kept");
            let _ = fs::rename(self.folder.path(), &kept);
            eprintln!("logs are in {}", kept.join("logs").display());
        }
    }
}

/// A client under way.
pub struct Client {
    pub child: Child,
    log: PathBuf,
}

impl Client {
    pub fn start(mut command: Command, log: &Path) -> Self {
        let file = File::create(log).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Self { child: command.spawn().unwrap(), log: log.to_path_buf() }
    }

    pub fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub fn is_done(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                panic!("the client hangs; it said:\n{}", self.said());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn succeeds(mut self) {
        let status = self.wait();
        assert!(status.success(), "{status}:\n{}", self.said());
    }
}

/// Generated data with the answers of one process.
pub struct Data {
    pub folder: PathBuf,
    expected: PathBuf,
    _made: Option<TempDir>,
}

/// In one process.
fn answer_alone(suite: &str, data: &Path, out: &Path) {
    let mut run = caudal();
    quietly(run.args(["run", suite, "--data"]).arg(data).arg("--out").arg(out));
}

impl Data {
    /// Made once for each suite and scale, and kept until this process ends.
    pub fn of(suite: &str, scale: &str) -> Self {
        static MADE: OnceLock<PathBuf> = OnceLock::new();
        static MAKING: Mutex<()> = Mutex::new(());
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let root = MADE.get_or_init(|| emptied("data"));
        let folder = root.join(format!("{suite}-{scale}"));
        let expected = root.join(format!("{suite}-{scale}-expected"));
        if !expected.exists() {
            let mut generate = caudal();
            generate.args(["generate", suite, "--scale", scale, "--out"]).arg(&folder);
            quietly(&mut generate);
            answer_alone(suite, &folder, &expected);
        }
        Self { folder, expected, _made: None }
    }

    /// Files that are there already.
    pub fn at(suite: &str, folder: &Path) -> Self {
        let made = tempfile::tempdir().unwrap();
        let expected = made.path().join("expected");
        answer_alone(suite, folder, &expected);
        Self { folder: folder.to_path_buf(), expected, _made: Some(made) }
    }

    pub fn compare(&self, results: &Path) {
        let mut check = caudal();
        quietly(check.arg("check").arg(results).arg("--against").arg(&self.expected));
    }
}

pub fn caudal() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.env("NO_COLOR", "1").env_remove("CAUDAL_GATEWAY").env_remove("CAUDAL_TOKEN");
    command
}

fn quietly(command: &mut Command) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, also) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}{also}");
}

pub fn rss_mb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

pub fn kill(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Ours until somebody else asks for one: below those the system hands out.
pub fn free_port() -> u16 {
    loop {
        let port = fastrand::u16(10_000..20_000);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn strip_colors(text: &str) -> String {
    let mut plain = String::new();
    let mut in_color = false;
    for c in text.chars() {
        match c {
            '\x1b' => in_color = true,
            'm' if in_color => in_color = false,
            c if !in_color => plain.push(c),
            _ => {}
        }
    }
    plain
}
