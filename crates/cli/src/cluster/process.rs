//! Processes by pid and start time: a pid alone may belong to somebody else by now.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// The unit of times in /proc: the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// How often a process that is to end is looked at.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// In clock ticks since the machine started, as /proc says.
    pub started: u64,
}

impl Process {
    /// Starts a program in a process group of its own, so that a Ctrl-C in the terminal is not its
    /// business; what it says goes to `log`.
    pub fn start(command: &mut Command, log: &Path) -> io::Result<Self> {
        let log = File::options().create(true).append(true).open(log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()?;
        let pid = child.id();
        // Without somebody to wait for it, a process that ends stays a zombie.
        std::thread::spawn(move || {
            let mut child = child;
            child.wait()
        });
        let started = start_time(pid).ok_or_else(|| io::Error::other("it ended at once"))?;
        Ok(Self { pid, started })
    }

    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.started)
    }

    pub fn signal(self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        if self.is_alive() {
            // It may have ended in between.
            let _ = kill_process(pid, signal);
        }
    }

    /// Whether it has ended by then.
    pub fn wait(self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.is_alive() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    pub fn resident_bytes(self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024)
    }

    /// How long it has been running.
    pub fn uptime(self) -> Option<Duration> {
        let up = std::fs::read_to_string("/proc/uptime").ok()?;
        let up: f64 = up.split(' ').next()?.parse().ok()?;
        let started = self.started as f64 / TICKS_PER_SECOND;
        Some(Duration::from_secs_f64((up - started).max(0.0)))
    }
}

/// None where there is no such process, or only what is left of one.
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let after_name = stat.rsplit_once(") ")?.1;
    let fields: Vec<&str> = after_name.split(' ').collect();
    (fields.first() != Some(&"Z")).then(|| fields.get(19)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let mut sleep = Command::new("sleep");
        let process = Process::start(sleep.arg("60"), &folder.path().join("log")).unwrap();
        assert!(process.is_alive());
        assert!(process.uptime().unwrap() < Duration::from_secs(60));
        let other = Process { started: process.started + 1, ..process };
        assert!(!other.is_alive(), "another process with the same pid");
        process.signal(Signal::TERM);
        assert!(process.wait(Duration::from_secs(10)));
    }
}
