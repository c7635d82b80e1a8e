//! A RabbitMQ of one's own on this machine, on loopback only, with all its files in one directory.
//!
//! For `caudal up` and for tests. It needs an installed RabbitMQ but neither its service nor its
//! user; several run side by side. It ends with its parent, however that ends, unless it is told to
//! outlive it.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use caudal_core::{Code, Coded};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// Where packages put the scripts that run RabbitMQ as whoever calls them. Those of the same names
/// on the PATH may change user and directory.
const SCRIPTS: [&str; 4] = [
    "/usr/lib/rabbitmq/lib/*/sbin",
    "/opt/rabbitmq/sbin",
    "/opt/homebrew/opt/rabbitmq/sbin",
    "/usr/local/opt/rabbitmq/sbin",
];

/// It needs 5 to 11 s on an idle machine.
const START_SECONDS_MAX: u64 = 90;
const STOP_SECONDS_MAX: u64 = 30;
const POLL_MS: u64 = 50;

/// Ports below those the system gives to outgoing connections.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// The broker's port, one for each of its helpers, and a range for its command line tools.
const PORTS_EACH: u16 = 40;

/// Waits until its input ends, which is when its parent has ended, and stops the server then.
const WATCHDOG: &str = r#"
"$1" </dev/null & server=$!
cat >/dev/null
kill -TERM $server 2>/dev/null && wait $server
epmd -port "$ERL_EPMD_PORT" -kill >/dev/null 2>&1
"#;

#[derive(Debug, Error)]
pub enum Error {
    #[error(
        "there is no RabbitMQ here; install it, for example with apt-get install rabbitmq-server"
    )]
    NotInstalled,
    #[error("no private RabbitMQ in {}: {reason}; its logs are in {}", directory.display(), directory.join("log").display())]
    NotStarted { directory: PathBuf, reason: String },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::NotInstalled => "CDL-4011",
            Error::NotStarted { .. } => "CDL-4012",
        }
    }
}

/// How long a broker lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is dropped or this process ends.
    Ours,
    /// Until somebody stops it.
    Detached,
}

#[derive(Debug)]
pub struct PrivateRabbit {
    directory: PathBuf,
    port: u16,
    scripts: PathBuf,
    lifetime: Lifetime,
    /// The watchdog, or the server itself where it is detached. None where we did not start it.
    child: Option<Child>,
}

impl PrivateRabbit {
    /// Starts a broker on free ports and returns when it takes connections.
    pub async fn start(directory: &Path, lifetime: Lifetime) -> Result<Self, Error> {
        let scripts = find_scripts().ok_or(Error::NotInstalled)?;
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
        let port = free_ports().ok_or_else(|| Error::NotStarted {
            directory: directory.clone(),
            reason: format!("no free ports among {PORTS:?}"),
        })?;
        let mut rabbit = Self { directory, port, scripts, lifetime, child: None };
        rabbit.write_files().map_err(|error| rabbit.not_started(error))?;
        rabbit.launch().await?;
        Ok(rabbit)
    }

    /// A detached broker that was started in this directory, running or not.
    pub fn find(directory: &Path) -> Result<Self, Error> {
        let scripts = find_scripts().ok_or(Error::NotInstalled)?;
        let lifetime = Lifetime::Detached;
        let mut rabbit =
            Self { directory: directory.to_path_buf(), port: 0, scripts, lifetime, child: None };
        let port =
            fs::read_to_string(rabbit.file("port")).map_err(|error| rabbit.not_started(error))?;
        rabbit.port = port.trim().parse().map_err(|error| rabbit.not_started(error))?;
        Ok(rabbit)
    }

    pub fn url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.port)
    }

    /// The process of the broker, while there is one.
    pub fn pid(&self) -> Option<u32> {
        let pid: u32 = fs::read_to_string(self.file("pid")).ok()?.trim().parse().ok()?;
        // Not another one that has got the number since.
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let ours = format!("RABBITMQ_NODENAME={}", self.node_name()).into_bytes();
        environment.split(|byte| *byte == 0).any(|variable| variable == ours).then_some(pid)
    }

    /// The memory its process occupies.
    pub fn rss_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib << 10)
    }

    /// Ends the broker in good order. Its files stay.
    pub async fn stop(&mut self) {
        self.signal(Signal::TERM);
        self.ended().await;
    }

    /// Ends the broker as a crash would.
    pub async fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    /// Starts a broker that has ended again, with what it holds.
    pub async fn restart(&mut self) -> Result<(), Error> {
        self.launch().await
    }

    /// Runs `rabbitmqctl` and returns what it prints.
    pub async fn control(&self, arguments: &[&str]) -> Result<String, Error> {
        let mut command = tokio::process::Command::from(self.command("rabbitmqctl"));
        let output = command.arg("--quiet").args(arguments).kill_on_drop(true).output().await;
        let output = output.map_err(|error| self.not_started(error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(self.not_started(format!("rabbitmqctl {arguments:?}: {}", said.trim())));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The queues there are, each with the messages it holds.
    pub async fn queues(&self) -> Result<Vec<(String, u64)>, Error> {
        let listing = ["list_queues", "--no-table-headers", "name", "messages"];
        let lines = self.control(&listing).await?;
        let queue = |line: &str| {
            let (name, messages) = line.split_once('\t')?;
            Some((name.to_string(), messages.trim().parse().ok()?))
        };
        Ok(lines.lines().filter_map(queue).collect())
    }

    fn write_files(&self) -> io::Result<()> {
        fs::create_dir_all(self.file("home"))?;
        fs::create_dir_all(self.file("log"))?;
        fs::write(self.file("port"), self.port.to_string())?;
        fs::write(
            self.file("rabbitmq.conf"),
            format!("listeners.tcp.1 = 127.0.0.1:{}\n", self.port),
        )?;
        fs::write(self.file("advanced.config"), "[].\n")?;
        fs::write(self.file("enabled_plugins"), "[].\n")
    }

    async fn launch(&mut self) -> Result<(), Error> {
        self.let_go();
        let child = self.spawn().map_err(|error| self.not_started(error))?;
        self.child = Some(child);
        let deadline = Instant::now() + Duration::from_secs(START_SECONDS_MAX);
        while !self.answers().await {
            if let Some(status) = self.exited() {
                return Err(self.not_started(format!("it ended with {status}")));
            }
            if Instant::now() > deadline {
                self.kill().await;
                return Err(self.not_started(format!("no answer for {START_SECONDS_MAX} s")));
            }
            sleep(Duration::from_millis(POLL_MS)).await;
        }
        Ok(())
    }

    fn spawn(&self) -> io::Result<Child> {
        // Of an earlier start.
        match fs::remove_file(self.file("pid")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let log = File::create(self.file("log").join("console"))?;
        let mut command = match self.lifetime {
            Lifetime::Detached => self.command("rabbitmq-server"),
            Lifetime::Ours => {
                let mut command = self.with_environment(Command::new("sh"));
                command.args(["-c", WATCHDOG, "sh"]).arg(self.scripts.join("rabbitmq-server"));
                command
            }
        };
        command.stdin(match self.lifetime {
            Lifetime::Detached => Stdio::null(),
            Lifetime::Ours => Stdio::piped(),
        });
        // A Ctrl-C at the terminal is for us: the broker is stopped after those who use it.
        command.process_group(0).stdout(log.try_clone()?).stderr(log).spawn()
    }

    async fn answers(&self) -> bool {
        self.pid().is_some() && TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.is_ok()
    }

    fn exited(&mut self) -> Option<std::process::ExitStatus> {
        self.child.as_mut()?.try_wait().ok().flatten()
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.process() {
            // It may have ended in between.
            let _ = kill_process(pid, signal);
        }
    }

    fn process(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid()?).ok()?)
    }

    /// Waits for the end of the process; what takes too long is killed.
    async fn ended(&mut self) {
        let Some(process) = self.process() else { return self.let_go() };
        let deadline = Instant::now() + Duration::from_secs(STOP_SECONDS_MAX);
        while test_kill_process(process).is_ok() && self.pid().is_some() {
            if Instant::now() > deadline {
                self.signal(Signal::KILL);
            }
            sleep(Duration::from_millis(POLL_MS)).await;
        }
        self.let_go();
    }

    /// Ends the watchdog, which stops what still runs and the server's helper.
    fn let_go(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            // Reaps it; what it has left to do takes a second at most.
            std::thread::spawn(move || child.wait());
        }
        if self.lifetime == Lifetime::Detached {
            let mut epmd = self.with_environment(Command::new("epmd"));
            let port = (self.port + 2).to_string();
            epmd.args(["-port", &port, "-kill"]).stdout(Stdio::null()).stderr(Stdio::null());
            let _ = epmd.status();
        }
    }

    fn command(&self, script: &str) -> Command {
        self.with_environment(Command::new(self.scripts.join(script)))
    }

    fn with_environment(&self, mut command: Command) -> Command {
        let port = |offset: u16| (self.port + offset).to_string();
        command
            .env("HOME", self.file("home"))
            .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
            .env("RABBITMQ_NODENAME", self.node_name())
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", port(0))
            .env("RABBITMQ_DIST_PORT", port(1))
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("ERL_EPMD_PORT", port(2))
            .env("RABBITMQ_CTL_DIST_PORT_MIN", port(10))
            .env("RABBITMQ_CTL_DIST_PORT_MAX", port(30))
            .env(
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                "-kernel inet_dist_use_interface {127,0,0,1}",
            )
            .env("RABBITMQ_MNESIA_BASE", self.file("mnesia"))
            .env("RABBITMQ_LOG_BASE", self.file("log"))
            .env("RABBITMQ_PID_FILE", self.file("pid"))
            .env("RABBITMQ_CONFIG_FILE", self.file("rabbitmq.conf"))
            .env("RABBITMQ_ADVANCED_CONFIG_FILE", self.file("advanced.config"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", self.file("enabled_plugins"));
        command
    }

    fn node_name(&self) -> String {
        format!("caudal{}@localhost", self.port)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn not_started(&self, reason: impl ToString) -> Error {
        Error::NotStarted { directory: self.directory.clone(), reason: reason.to_string() }
    }
}

impl Drop for PrivateRabbit {
    fn drop(&mut self) {
        if self.lifetime == Lifetime::Ours {
            self.let_go();
        }
    }
}

fn find_scripts() -> Option<PathBuf> {
    let usable = |directory: &PathBuf| {
        ["rabbitmq-server", "rabbitmq-env"].iter().all(|file| directory.join(file).is_file())
    };
    SCRIPTS.iter().flat_map(|pattern| directories(pattern)).find(usable)
}

/// The directories a pattern with at most one `*` means.
fn directories(pattern: &str) -> Vec<PathBuf> {
    let Some((parent, rest)) = pattern.split_once("/*/") else { return vec![pattern.into()] };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join(rest)).collect()
}

/// The first of a range of ports of which those that are listened on are free.
fn free_ports() -> Option<u16> {
    let free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let candidates = (0..100).map(|_| {
        PORTS.start + fastrand::u16(..(PORTS.end - PORTS.start) / PORTS_EACH) * PORTS_EACH
    });
    candidates.into_iter().find(|first| (0..3).all(|offset| free(first + offset)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_and_leave_room_for_helpers() {
        let first = free_ports().unwrap();
        assert!(PORTS.contains(&first));
        assert_eq!((first - PORTS.start) % PORTS_EACH, 0);
    }

    #[test]
    fn a_directory_without_a_broker_says_so() {
        let directory = tempfile::tempdir().unwrap();
        match PrivateRabbit::find(directory.path()) {
            Err(Error::NotStarted { .. } | Error::NotInstalled) => {}
            Ok(_) => panic!("found one"),
        }
    }
}
