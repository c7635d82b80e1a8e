//! The cluster's folder on a machine.
//!
//! ```text
//! cluster.json         the nodes, and what else makes up the cluster
//! secret               what its nodes sign with; for its owner's eyes only
//! logs/<node>.log      what each node says
//! run/<node>.json      the process it was last started as, and how often it was
//! run/<node>.alive     locked by the node as long as it lives, with its process in it; touched while its main loop moves
//! run/<node>.launch    locked by the launcher of the node
//! run/stopped          nothing may be launched any more
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use caudal_core::limits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::members::Members;
use crate::wire::Secret;
use crate::{Error, Process};

pub const CLUSTER_FILE: &str = "cluster.json";
const SECRET_BYTES: usize = 32;
const SECRET_CHARACTERS_MIN: usize = 32;
const LOOK: Duration = Duration::from_millis(limits::LOCK_POLL_MS);

#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// The record of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    pub process: Process,
    /// Launches of the node since the cluster was started.
    pub launches: u32,
}

impl Folder {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes what a cluster on this machine needs, with a secret of its own, and forgets an earlier one.
    pub fn prepare(&self) -> Result<(), Error> {
        let failed = |source| Error::Folder { path: self.path.clone(), source };
        let run = self.path.join("run");
        match fs::remove_dir_all(&run) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let make = || -> io::Result<()> {
            fs::create_dir_all(self.path.join("logs"))?;
            fs::create_dir_all(&run)?;
            let mut secret = [0; SECRET_BYTES];
            File::open("/dev/urandom")?.read_exact(&mut secret)?;
            let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
            let path = self.path.join("secret");
            let _ = fs::remove_file(&path);
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(secret.as_bytes())
        };
        make().map_err(failed)
    }

    pub fn members(&self) -> Result<Members, Error> {
        let path = self.path.join(CLUSTER_FILE);
        let failed = |reason: String| Error::ClusterFile { path: path.clone(), reason };
        let json = fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let members: Members =
            serde_json::from_slice(&json).map_err(|error| failed(error.to_string()))?;
        members.check().map_err(failed)?;
        Ok(members)
    }

    pub fn secret(&self) -> Result<Secret, Error> {
        let path = self.path.join("secret");
        let failed = |reason: String| Error::Secret { path: path.clone(), reason };
        let secret = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let secret = secret.trim();
        if secret.len() < SECRET_CHARACTERS_MIN {
            return Err(failed(format!("less than {SECRET_CHARACTERS_MIN} characters")));
        }
        Ok(Secret::new(secret))
    }

    pub fn log(&self, node: &str) -> PathBuf {
        self.path.join("logs").join(format!("{node}.log"))
    }

    fn run(&self, node: &str, kind: &str) -> PathBuf {
        self.path.join("run").join(format!("{node}.{kind}"))
    }

    /// From here on nobody launches anything.
    pub fn stop_launches(&self) -> io::Result<()> {
        File::create(self.path.join("run").join("stopped")).map(drop)
    }

    pub fn are_launches_stopped(&self) -> bool {
        self.path.join("run").join("stopped").exists()
    }

    pub fn launched(&self, node: &str) -> Option<Launched> {
        read(&self.run(node, "json"))
    }

    /// Whole or not at all: somebody else may be reading it.
    pub fn write_launched(&self, node: &str, launched: Launched) -> io::Result<()> {
        let (file, new) = (self.run(node, "json"), self.run(node, "new"));
        fs::write(&new, serde_json::to_vec(&launched)?)?;
        fs::rename(new, file)
    }

    /// The process that says it is the node, or the one that was started as it: both, should a launcher
    /// have died before it could write down what it had started.
    pub fn processes(&self, node: &str) -> Vec<Process> {
        let own: Option<Process> = read(&self.run(node, "alive"));
        let launched = self.launched(node).map(|launched| launched.process);
        let mut processes: Vec<Process> = own.into_iter().chain(launched).collect();
        processes.dedup();
        processes.retain(|process| process.is_alive());
        processes
    }

    /// Whether this process is the node and has said, not long ago, that its main loop moves. A clock that was set back or
    /// forth makes it no: then the network decides alone.
    pub fn is_well(&self, node: &str, process: Process) -> bool {
        let path = self.run(node, "alive");
        let touched = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let age = touched.ok().and_then(|touched| touched.elapsed().ok());
        age.is_some_and(|age| age < Duration::from_millis(limits::ALIVE_MS_MAX))
            && read(&path) == Some(process)
    }

    /// Held by one launcher of a node at a time; None if another does not let go in time.
    pub fn launch_lock(&self, node: &str, timeout: Duration) -> io::Result<Option<File>> {
        lock(&self.run(node, "launch"), timeout)
    }

    /// Held by the node as long as it lives; None if another process is this node.
    pub fn node_lock(&self, node: &str, timeout: Duration) -> io::Result<Option<File>> {
        let Some(mut file) = lock(&self.run(node, "alive"), timeout)? else { return Ok(None) };
        let this = Process::this().ok_or_else(|| io::Error::other("no /proc"))?;
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(&this)?)?;
        Ok(Some(file))
    }
}

/// None where there is no such file, or a half-written one.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn lock(path: &Path, timeout: Duration) -> io::Result<Option<File>> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    let deadline = Instant::now() + timeout;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(LOOK);
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn prepared() -> (tempfile::TempDir, Folder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        folder.prepare().unwrap();
        (temporary, folder)
    }

    #[test]
    fn a_secret_is_drawn_and_only_its_owner_reads_it() {
        let (_kept, folder) = prepared();
        assert!(folder.secret().is_ok());
        let mode = fs::metadata(folder.path().join("secret")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let first = fs::read(folder.path().join("secret")).unwrap();
        folder.prepare().unwrap();
        assert_ne!(fs::read(folder.path().join("secret")).unwrap(), first);
    }

    #[test]
    fn one_process_is_a_node() {
        let (_kept, folder) = prepared();
        let held = folder.node_lock("a", Duration::ZERO).unwrap();
        assert!(held.is_some());
        assert_eq!(folder.processes("a"), [Process::this().unwrap()]);
        assert!(folder.node_lock("a", Duration::from_millis(30)).unwrap().is_none());
        drop(held);
        assert!(folder.node_lock("a", Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn who_has_said_so_not_long_ago_is_well() {
        let (_kept, folder) = prepared();
        let this = Process::this().unwrap();
        assert!(!folder.is_well("a", this), "nobody has said anything");
        let held = folder.node_lock("a", Duration::ZERO).unwrap().unwrap();
        assert!(folder.is_well("a", this));
        assert!(!folder.is_well("a", Process { started: this.started + 1, ..this }));
        let at = |ago: u64| std::time::SystemTime::now() - Duration::from_millis(ago);
        held.set_modified(at(limits::ALIVE_MS_MAX + 10)).unwrap();
        assert!(!folder.is_well("a", this));
        held.set_modified(at(0) + Duration::from_secs(60)).unwrap();
        assert!(!folder.is_well("a", this), "by a clock that was set back");
    }

    #[test]
    fn both_processes_of_a_launch_that_was_cut_short_are_found() {
        let (_kept, folder) = prepared();
        let _held = folder.node_lock("a", Duration::ZERO).unwrap();
        let mut sleep = std::process::Command::new("sleep");
        let other = Process::start(sleep.arg("60"), &folder.log("a")).unwrap();
        folder.write_launched("a", Launched { process: other, launches: 1 }).unwrap();
        assert_eq!(folder.processes("a"), [Process::this().unwrap(), other]);
        other.signal(rustix::process::Signal::KILL);
    }
}
