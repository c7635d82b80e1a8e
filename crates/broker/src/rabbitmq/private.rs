//! A RabbitMQ of one's own on this machine, on loopback only, with all its files in one directory.
//!
//! For `caudal up` and for tests. It needs an installed RabbitMQ but neither its service nor its
//! user; several run side by side. It ends with its parent, however that ends, unless it is told to
//! outlive it.

mod place;
mod ports;

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use caudal_core::{Code, Coded, codes, limits};
use rustix::process::{Pid, Signal, kill_process};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use self::place::{Place, USER};
use self::ports::Reservation;

/// Runs the server, and stops it when its own input ends, which is when its parent has ended.
const WATCHDOG: &str = r#"
exec 3<&0
"$1" </dev/null & server=$!
(cat <&3 >/dev/null; kill -TERM $server) & guard=$!
wait $server; status=$?
kill $guard
epmd -kill
exit $status
"#;

#[derive(Debug, Error)]
pub enum Error {
    #[error(
        "there is no RabbitMQ here; install it, for example with apt-get install rabbitmq-server"
    )]
    NotInstalled,
    #[error("no private RabbitMQ in {}: {reason}; its logs are in the folder log there", directory.display())]
    NotRunning { directory: PathBuf, reason: String },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::NotInstalled => codes::RABBITMQ_NOT_INSTALLED,
            Error::NotRunning { .. } => codes::RABBITMQ_NOT_RUNNING,
        }
    }
}

/// The lifetime of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifetime {
    /// Until it is dropped or this process ends.
    Ours,
    /// Until somebody stops it.
    Detached,
}

#[derive(Debug)]
pub struct PrivateRabbit {
    place: Place,
    lifetime: Lifetime,
    /// The watchdog, or the server itself where it is detached. None where we did not start it.
    child: Option<Child>,
    _ports: Option<Reservation>,
}

impl PrivateRabbit {
    /// Starts a broker on free ports, for as long as this process lives; returns when it takes connections.
    pub async fn start(directory: &Path) -> Result<Self, Error> {
        let mut rabbit = Self::new(directory, Lifetime::Ours)?;
        rabbit.launch().await?;
        Ok(rabbit)
    }

    fn new(directory: &Path, lifetime: Lifetime) -> Result<Self, Error> {
        let mut place = Place::new(directory)?;
        let ports = Reservation::make().ok_or_else(|| place.not_running("no port is free"))?;
        place.port = ports.first;
        place.password = place.make_password().map_err(|error| place.not_running(error))?;
        place.write_files().map_err(|error| place.not_running(error))?;
        Ok(Self { place, lifetime, child: None, _ports: Some(ports) })
    }

    /// A broker that outlives this process, to be started: a new one, unless one runs there still.
    pub fn prepare(directory: &Path) -> Result<Self, Error> {
        match Self::find(directory) {
            Ok(rabbit) if rabbit.pid().is_some() => Ok(rabbit),
            _ => Self::new(directory, Lifetime::Detached),
        }
    }

    /// One that was prepared in this directory, whether it runs or not.
    pub fn find(directory: &Path) -> Result<Self, Error> {
        let mut place = Place::new(directory)?;
        let port = fs::read_to_string(place.file("port"));
        let port = port.map_err(|error| place.not_running(error))?;
        place.port = port.trim().parse().map_err(|error| place.not_running(error))?;
        // One that was prepared by an earlier version has none, and can be stopped all the same.
        place.password = place.read_password().unwrap_or_default();
        let ports = Reservation::again(place.port);
        Ok(Self { place, lifetime: Lifetime::Detached, child: None, _ports: ports })
    }

    /// With its password: not for logs, nor for the arguments of a process, which all users of a machine see.
    pub fn url(&self) -> String {
        let Place { port, password, .. } = &self.place;
        format!("amqp://{USER}:{password}@127.0.0.1:{port}/%2f")
    }

    /// The process of the broker, while there is one.
    pub fn pid(&self) -> Option<u32> {
        let pid = fs::read_to_string(self.place.file("pid")).ok()?.trim().parse().ok()?;
        self.is_running(pid).then_some(pid)
    }

    /// The memory its process occupies.
    pub fn rss_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib << 10)
    }

    /// Starts a broker that does not run, with what it held; returns when it takes connections.
    pub async fn launch(&mut self) -> Result<(), Error> {
        self.let_go();
        let child = self.spawn().map_err(|error| self.place.not_running(error))?;
        self.child = Some(child);
        let deadline = Instant::now() + Duration::from_secs(limits::RABBITMQ_START_SECONDS_MAX);
        while !self.answers().await {
            if let Some(status) = self.exited() {
                return Err(self.place.not_running(format!("it ended with {status}")));
            }
            if Instant::now() > deadline {
                self.kill().await;
                let reason = format!("no answer for {} s", limits::RABBITMQ_START_SECONDS_MAX);
                return Err(self.place.not_running(reason));
            }
            sleep(Duration::from_millis(limits::RABBITMQ_POLL_MS)).await;
        }
        Ok(())
    }

    /// Ends the broker in good order. Its files stay.
    pub async fn stop(&mut self) {
        self.end(Signal::TERM).await;
    }

    /// Ends the broker as a crash would.
    pub async fn kill(&mut self) {
        self.end(Signal::KILL).await;
    }

    /// Whether it takes connections.
    pub async fn answers(&self) -> bool {
        let address = (Ipv4Addr::LOCALHOST, self.place.port);
        self.pid().is_some() && TcpStream::connect(address).await.is_ok()
    }

    /// Runs `rabbitmqctl` and returns what it prints.
    pub async fn control(&self, arguments: &[&str]) -> Result<String, Error> {
        let mut command = tokio::process::Command::from(self.place.script("rabbitmqctl"));
        let output = command.arg("--quiet").args(arguments).kill_on_drop(true).output().await;
        let output = output.map_err(|error| self.place.not_running(error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let reason = format!("rabbitmqctl {arguments:?}: {}", said.trim());
            return Err(self.place.not_running(reason));
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

    fn spawn(&self) -> io::Result<Child> {
        // Of an earlier start.
        match fs::remove_file(self.place.file("pid")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let log = File::create(self.place.file("log").join("console"))?;
        let mut command = match self.lifetime {
            Lifetime::Detached => {
                let mut command = self.place.script("rabbitmq-server");
                command.stdin(Stdio::null());
                command
            }
            Lifetime::Ours => {
                let mut command = self.place.with_environment(Command::new("sh"));
                let server = self.place.scripts.join("rabbitmq-server");
                command.args(["-c", WATCHDOG, "sh"]).arg(server).stdin(Stdio::piped());
                command
            }
        };
        // A Ctrl-C at the terminal is for us: the broker is stopped after those who use it.
        let child = command.process_group(0).stdout(log.try_clone()?).stderr(log).spawn()?;
        if self.lifetime == Lifetime::Detached {
            // As it will itself, seconds later: a process that stops it meanwhile has to know it.
            fs::write(self.place.file("pid"), child.id().to_string())?;
        }
        Ok(child)
    }

    fn exited(&mut self) -> Option<std::process::ExitStatus> {
        self.child.as_mut()?.try_wait().ok().flatten()
    }

    /// Whether a process is the broker, and not another one that has got its number since.
    fn is_running(&self, pid: u32) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let ours = format!("RABBITMQ_NODENAME={}", self.place.node_name()).into_bytes();
        environment.split(|byte| *byte == 0).any(|variable| variable == ours)
    }

    /// Returns when the process is gone; what takes too long is killed.
    async fn end(&mut self, signal: Signal) {
        let Some(pid) = self.pid() else { return self.let_go() };
        let deadline = Instant::now() + Duration::from_secs(limits::RABBITMQ_STOP_SECONDS_MAX);
        send(pid, signal);
        while self.is_running(pid) {
            if Instant::now() > deadline {
                send(pid, Signal::KILL);
            }
            sleep(Duration::from_millis(limits::RABBITMQ_POLL_MS)).await;
        }
        self.let_go();
    }

    /// Ends the watchdog, which stops what still runs, and the server's helper.
    fn let_go(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            // Reaps it; what it has left to do takes a second or two.
            std::thread::spawn(move || child.wait());
        }
        if self.lifetime == Lifetime::Detached {
            let mut epmd = self.place.with_environment(Command::new("epmd"));
            epmd.arg("-kill").stdout(Stdio::null()).stderr(Stdio::null());
            // None may be running.
            let _ = epmd.status();
        }
    }
}

impl Drop for PrivateRabbit {
    fn drop(&mut self) {
        if self.lifetime == Lifetime::Ours {
            self.let_go();
        }
    }
}

fn send(pid: u32, signal: Signal) {
    if let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended in between.
        let _ = kill_process(process, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_a_broker_says_so() {
        let directory = tempfile::tempdir().unwrap();
        match PrivateRabbit::find(directory.path()) {
            Err(Error::NotRunning { .. } | Error::NotInstalled) => {}
            Ok(_) => panic!("found one"),
        }
    }
}
