//! Hits the processes of a cluster on this machine, and writes down what it did.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use caudal_core::limits;
use caudal_monitor::Process;
use caudal_monitor::members::Member;
use rustix::process::Signal;

use super::choice::{Kind, Target};
use crate::cluster::state::Cluster;
use crate::error::Failed;

pub struct Faults<'a> {
    cluster: &'a Cluster,
    started: Instant,
    log: Option<File>,
    pub kills: u32,
    pub freezes: u32,
}

impl<'a> Faults<'a> {
    pub fn new(cluster: &'a Cluster, log: Option<&Path>) -> Result<Self, Failed> {
        let log = match log {
            None => None,
            Some(path) => {
                let mut file = File::create(path)?;
                writeln!(file, "seconds,action,node,pid")?;
                Some(file)
            }
        };
        Ok(Self { cluster, started: Instant::now(), log, kills: 0, freezes: 0 })
    }

    pub fn targets(&self) -> Vec<Target> {
        self.cluster.members.nodes.iter().map(|node| self.target(node)).collect()
    }

    fn target(&self, node: &Member) -> Target {
        let is_well = self.process(&node.name).is_some_and(|process| !process.is_frozen());
        Target { name: node.name.clone(), role: node.role, is_well }
    }

    fn process(&self, node: &str) -> Option<Process> {
        self.cluster.folder().processes(node).first().copied()
    }

    /// Whether there was anything to hit.
    pub fn strike(&mut self, node: &str, kind: Kind) -> io::Result<bool> {
        let (action, signal) = match kind {
            Kind::Kill => ("kill", Signal::KILL),
            Kind::Freeze => ("freeze", Signal::STOP),
        };
        let Some(pid) = self.send(node, action, signal)? else { return Ok(false) };
        match kind {
            Kind::Kill => self.kills += 1,
            Kind::Freeze => self.freezes += 1,
        }
        eprintln!("{:>7.1} s  {action} {node} (pid {pid})", self.started.elapsed().as_secs_f64());
        Ok(true)
    }

    pub fn thaw(&mut self, node: &str) -> io::Result<bool> {
        Ok(self.send(node, "thaw", Signal::CONT)?.is_some())
    }

    fn send(&mut self, node: &str, action: &str, signal: Signal) -> io::Result<Option<u32>> {
        let Some(process) = self.process(node) else { return Ok(None) };
        process.signal(signal);
        if signal == Signal::KILL
            && !process.wait(Duration::from_secs(limits::CHAOS_KILL_SECONDS_MAX))
        {
            return Err(io::Error::other(format!("{node} does not die of SIGKILL")));
        }
        if let Some(log) = &mut self.log {
            let seconds = self.started.elapsed().as_secs_f64();
            writeln!(log, "{seconds:.3},{action},{node},{}", process.pid)?;
        }
        Ok(Some(process.pid))
    }
}
