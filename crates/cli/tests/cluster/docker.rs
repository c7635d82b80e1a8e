//! A node that is a container, on a real Docker Engine: killed, paused or stopped, it is brought back.
//!
//! The engine is Debian's, unpacked into the target folder without being installed, with its socket, data and
//! state in a folder of the test; no bridge, no iptables. The image is our own binary and what it links to.
//! Needs root, `apt-get` and a network to fetch the packages once; says so where it cannot run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use caudal_monitor::folder::Folder;
use caudal_monitor::members::{Launch, Member, Members, Role};
use caudal_monitor::probe::probe;
use caudal_monitor::{NodeId, Process};
use caudal_testing::{skip, skip_on_this_machine};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::harness::{TIMEOUT, alone, caudal, free_port, kill, wait_until};

const TEST: &str = "nodes that are containers";
const PACKAGES: [&str; 4] = ["docker.io", "containerd", "runc", "libdevmapper1.02.1"];

#[test]
fn a_container_that_is_killed_paused_or_stopped_is_brought_back() {
    let _alone = alone();
    if !rustix::process::getuid().is_root() {
        return skip_on_this_machine(TEST, "not root");
    }
    let programs = match unpack() {
        Ok(programs) => programs,
        Err(reason) => return skip(TEST, &format!("its packages: {reason}")),
    };
    let engine = match Engine::start(programs) {
        Ok(engine) => engine,
        Err(reason) => return skip_on_this_machine(TEST, &reason),
    };
    let cluster = Cluster::start(&engine);
    type Deed = fn(&Engine);
    let deeds: [(&str, Deed); 4] = [
        ("killed", |engine| drop(engine.docker(&["kill", "worker-1"]))),
        ("killed from outside", |engine| engine.signal("worker-1", Signal::KILL)),
        ("paused", |engine| drop(engine.docker(&["pause", "worker-1"]))),
        ("stopped by a signal", |engine| engine.signal("worker-1", Signal::STOP)),
    ];
    for (what, deed) in deeds {
        let before = cluster.worker().expect("it answers");
        deed(&engine);
        let began = Instant::now();
        wait_until(&format!("{what}: it is back"), || {
            cluster.worker().is_some_and(|now| now != before)
        });
        println!("a container, {what}: back after {:.2?}", began.elapsed());
        // Heard by both monitors, for long enough that it counts as stable.
        std::thread::sleep(Duration::from_secs(6));
        let again = cluster.worker();
        assert!(again.is_some_and(|now| now != before), "{what}: it did not stay");
    }
}

struct Engine {
    daemon: Child,
    folder: TempDir,
    programs: PathBuf,
}

impl Engine {
    fn start(programs: PathBuf) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = in_engine(&programs, "usr/sbin/dockerd");
        let path = |name: &str| folder.path().join(name).display().to_string();
        command.args(["--host", &format!("unix://{}", path("docker.sock"))]);
        command.args(["--data-root", &path("data"), "--exec-root", &path("exec")]);
        command.args(["--pidfile", &path("pid"), "--storage-driver", "overlay2"]);
        command.args(["--bridge=none", "--iptables=false", "--ip6tables=false"]);
        command.args(["--ip-forward=false", "--ip-masq=false"]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let daemon = command.spawn().map_err(|error| error.to_string())?;
        let mut engine = Self { daemon, folder, programs };
        let deadline = Instant::now() + Duration::from_secs(30);
        while !engine.docker(&["version"]).status.success() {
            let ended = engine.daemon.try_wait().unwrap().is_some();
            if ended || Instant::now() > deadline {
                let log = fs::read_to_string(engine.folder.path().join("log")).unwrap();
                return Err(log.lines().last().unwrap_or("it does not answer").to_string());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(engine)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("docker.sock")
    }

    fn docker(&self, arguments: &[&str]) -> Output {
        let host = format!("unix://{}", self.socket().display());
        let mut command = in_engine(&self.programs, "usr/bin/docker");
        command.args(["--host", &host]).args(arguments).output().unwrap()
    }

    fn must(&self, arguments: &[&str]) -> String {
        let output = self.docker(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "docker {arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    /// An image of our own binary and what it links to.
    fn import_image(&self) {
        let root = self.folder.path().join("image");
        fs::create_dir_all(root.join("tmp")).unwrap();
        let program = PathBuf::from(caudal().get_program());
        let linked = Command::new("ldd").arg(&program).output().unwrap();
        let linked = String::from_utf8(linked.stdout).unwrap();
        let libraries = linked.split_whitespace().filter(|word| word.starts_with('/'));
        for library in libraries.map(Path::new) {
            let to = root.join(library.strip_prefix("/").unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(library, to).unwrap();
        }
        fs::copy(&program, root.join("caudal")).unwrap();
        let tar = self.folder.path().join("image.tar");
        let made = Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&tar).arg(".").status();
        assert!(made.unwrap().success());
        self.must(&["import", &tar.display().to_string(), "caudal:test"]);
    }

    /// To the first process of a container, past the engine.
    fn signal(&self, container: &str, signal: Signal) {
        let pid = self.must(&["inspect", "--format", "{{.State.Pid}}", container]);
        kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), signal).unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.docker(&["rm", "--force", "worker-1"]);
        kill(&self.daemon, Signal::TERM);
        let deadline = Instant::now() + TIMEOUT;
        while self.daemon.try_wait().unwrap().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn in_engine(programs: &Path, program: &str) -> Command {
    let mut command = Command::new(programs.join(program));
    let of = |folders: &[&str]| -> String {
        let paths: Vec<_> =
            folders.iter().map(|folder| programs.join(folder).display().to_string()).collect();
        paths.join(":")
    };
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", of(&["usr/sbin", "usr/bin"])));
    let libraries = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"];
    command.env("LD_LIBRARY_PATH", of(&libraries));
    command
}

/// Fetched and unpacked once, and kept with what else is built.
fn unpack() -> Result<PathBuf, String> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docker-engine");
    if place.exists() {
        return Ok(place);
    }
    let half = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|e| e.to_string())?;
    let run = |program: &str, arguments: &[&str]| -> Result<(), String> {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(half.path()).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
            Err(error) => Err(format!("{program}: {error}")),
        }
    };
    let download = || run("apt-get", &[&["download", "-q"][..], &PACKAGES].concat());
    // The lists of a new machine are empty, those of an old one name packages that are gone.
    download().or_else(|_| run("apt-get", &["update", "-q"]).and_then(|()| download()))?;
    let packages = fs::read_dir(half.path()).map_err(|error| error.to_string())?;
    for package in packages.flatten().filter(|entry| entry.path().extension().is_some()) {
        run("dpkg", &["-x", &package.path().display().to_string(), "root"])?;
    }
    fs::rename(half.path().join("root"), &place).map_err(|error| error.to_string())?;
    Ok(place)
}

/// Two monitors on this machine, and a worker in a container, which looks for a broker and answers meanwhile.
struct Cluster {
    folder: Folder,
    members: Members,
    monitors: Vec<Child>,
    _temporary: TempDir,
}

impl Cluster {
    fn start(engine: &Engine) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        folder.prepare().unwrap();
        let place = temporary.path().display().to_string();
        let member = |id: u32, name: &str, role: Role, launch: Launch| Member {
            id: NodeId(id),
            name: name.to_string(),
            role,
            host: "here".to_string(),
            health: format!("127.0.0.1:{}", free_port()),
            launch,
            listen: None,
        };
        let container = Launch::Docker { container: "worker-1".into(), socket: engine.socket() };
        let mut nodes = vec![member(1, "worker-1", Role::Worker, container)];
        for (id, name) in [(2, "monitor-1"), (3, "monitor-2")] {
            let arguments = ["monitor", "--name", name, "--cluster", &place].map(String::from);
            let program = caudal().get_program().into();
            let launch = Launch::Process { program, arguments: arguments.to_vec() };
            nodes.push(member(id, name, Role::Monitor, launch));
        }
        let members = Members { nodes };
        let file = serde_json::to_vec(&members).unwrap();
        fs::write(temporary.path().join("cluster.json"), file).unwrap();

        engine.import_image();
        let mount = format!("{place}:{place}:ro");
        let create = ["create", "--network", "host", "--name", "worker-1", "--volume", &mount];
        let worker =
            ["caudal:test", "/caudal", "worker", "--name", "worker-1", "--cluster", &place];
        let more = ["--store", "memory:", "--broker", "amqp://127.0.0.1:1"];
        engine.must(&[&create[..], &worker, &more].concat());
        engine.must(&["start", "worker-1"]);
        let monitors = ["monitor-1", "monitor-2"].map(|name| {
            let log = File::create(folder.log(name)).unwrap();
            let mut monitor = caudal();
            monitor.args(["monitor", "--name", name, "--cluster", &place]);
            monitor.stderr(log).spawn().unwrap()
        });
        let cluster = Self { folder, members, monitors: monitors.into(), _temporary: temporary };
        wait_until("all answer", || cluster.answers() == 3);
        cluster
    }

    fn answers(&self) -> usize {
        let nodes: Vec<&Member> = self.members.nodes.iter().collect();
        probe(&nodes, &self.folder.secret().unwrap(), Duration::from_millis(300)).unwrap().len()
    }

    /// The worker's process, as it calls itself.
    fn worker(&self) -> Option<Process> {
        let nodes = [&self.members.nodes[0]];
        let answers = probe(&nodes, &self.folder.secret().unwrap(), Duration::from_millis(300));
        answers.unwrap().into_values().next().map(|health| health.process)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for monitor in &mut self.monitors {
            let _ = monitor.kill();
            let _ = monitor.wait();
        }
        if std::thread::panicking() {
            for name in ["monitor-1", "monitor-2"] {
                eprintln!("{name}:\n{}", fs::read_to_string(self.folder.log(name)).unwrap());
            }
        }
    }
}
