//! Processes by pid and start time: a pid alone may belong to somebody else by now.

#![allow(unsafe_code, reason = "setsid, between fork and exec")]

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use caudal_core::limits;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::Process;

/// The unit of times in /proc: the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Pause between two looks at a process that is to end.
const LOOK: Duration = Duration::from_millis(limits::PROCESS_LOOK_MS);

/// Position of a process's start time in its stat, counted after its name.
const START_FIELD: usize = 19;

impl Process {
    /// Starts a program in a session of its own: neither a Ctrl-C in our terminal nor our end is its
    /// business. What it says goes to `log`.
    pub fn start(command: &mut Command, log: &Path) -> io::Result<Self> {
        let log = File::options().create(true).append(true).open(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // SAFETY: between fork and exec only what is safe in a signal handler may be called; setsid is one
        // system call.
        unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
        let child = command.spawn()?;
        let pid = child.id();
        // Without somebody to wait for it, a process that ends stays a zombie.
        std::thread::spawn(move || {
            let mut child = child;
            child.wait()
        });
        Self::of(pid).ok_or_else(|| io::Error::other("it ended at once"))
    }

    pub fn this() -> Option<Self> {
        Self::of(std::process::id())
    }

    pub fn of(pid: u32) -> Option<Self> {
        stat(pid).map(|(_, started)| Self { pid, started })
    }

    pub fn is_alive(self) -> bool {
        self.state().is_some()
    }

    /// Stopped by a signal.
    pub fn is_frozen(self) -> bool {
        self.state() == Some('T')
    }

    /// None where it is gone, or only its remains are there.
    fn state(self) -> Option<char> {
        let (state, started) = stat(self.pid)?;
        (started == self.started).then_some(state)
    }

    /// Reaches this process or none: what the handle is of cannot change after the look at its start.
    pub fn signal(self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_alive() {
            // It may have ended in between.
            let _ = pidfd_send_signal(handle, signal);
        }
    }

    /// Whether it has ended by then.
    pub fn wait(self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while self.is_alive() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    pub fn resident_bytes(self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024)
    }

    /// Time that it has been running.
    pub fn uptime(self) -> Option<Duration> {
        let up = fs::read_to_string("/proc/uptime").ok()?;
        let up: f64 = up.split(' ').next()?.parse().ok()?;
        let started = self.started as f64 / TICKS_PER_SECOND;
        Some(Duration::from_secs_f64((up - started).max(0.0)))
    }
}

/// The state and the start time of a process that is there.
fn stat(pid: u32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let after_name = stat.rsplit_once(") ")?.1;
    let fields: Vec<&str> = after_name.split(' ').collect();
    let state = fields.first()?.chars().next()?;
    let is_there = !matches!(state, 'Z' | 'X' | 'x');
    is_there.then(|| Some((state, fields.get(START_FIELD)?.parse().ok()?))).flatten()
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
        other.signal(Signal::KILL);
        assert!(!process.wait(Duration::from_millis(50)), "a signal for another one");
        process.signal(Signal::STOP);
        let deadline = Instant::now() + Duration::from_secs(10);
        while !process.is_frozen() {
            assert!(Instant::now() < deadline, "it does not stop");
        }
        process.signal(Signal::KILL);
        assert!(process.wait(Duration::from_secs(10)));
    }

    #[test]
    fn a_process_that_is_started_is_in_a_session_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut sleep = Command::new("sleep");
        let process = Process::start(sleep.arg("60"), &folder.path().join("log")).unwrap();
        let pid = Pid::from_raw(process.pid as i32).unwrap();
        assert_eq!(rustix::process::getsid(Some(pid)).unwrap(), pid);
        process.signal(Signal::KILL);
    }
}
