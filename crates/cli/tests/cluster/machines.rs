//! Machines that are network namespaces, on a switch that is one more: nothing of this machine's own network is touched.
//!
//! Needs root and `ip`; says so where there are none.

use std::path::Path;
use std::process::Command;

use caudal_testing::{skip, skip_on_this_machine};

pub struct Machines {
    prefix: String,
    hosts: Vec<&'static str>,
}

impl Machines {
    /// One for each host. None, and noted, if they cannot be had here.
    pub fn for_test(test: &str, hosts: &[&'static str]) -> Option<Self> {
        if Command::new("ip").arg("-Version").output().is_err() {
            skip(test, "there is no ip(8)");
            return None;
        }
        let machines =
            Self { prefix: format!("caudal-{}", std::process::id()), hosts: hosts.to_vec() };
        let made = machines.make();
        if made.is_none() {
            skip_on_this_machine(test, "no network namespaces, or not root");
        }
        made.map(|()| machines)
    }

    fn make(&self) -> Option<()> {
        let switch = self.name("switch");
        ip(&["netns", "add", &switch])?;
        ip(&["-n", &switch, "link", "add", "bridge", "type", "bridge"])?;
        ip(&["-n", &switch, "link", "set", "bridge", "up"])?;
        for host in &self.hosts {
            let name = self.name(host);
            ip(&["netns", "add", &name])?;
            let peer = ["type", "veth", "peer", "name", "eth0", "netns", &name];
            let port = port(host);
            ip(&[&["-n", &switch, "link", "add", "name", &port][..], &peer].concat())?;
            ip(&["-n", &switch, "link", "set", &port, "master", "bridge", "up"])?;
            let address = format!("{}/24", self.address(host));
            ip(&["-n", &name, "address", "add", &address, "dev", "eth0"])?;
            ip(&["-n", &name, "link", "set", "eth0", "up"])?;
            ip(&["-n", &name, "link", "set", "lo", "up"])?;
        }
        Some(())
    }

    fn name(&self, host: &str) -> String {
        format!("{}-{host}", self.prefix)
    }

    pub fn address(&self, host: &str) -> String {
        let at = self.hosts.iter().position(|one| *one == host).unwrap();
        format!("10.77.0.{}", at + 1)
    }

    /// From all others.
    pub fn cut_off(&self, host: &str) {
        ip(&["-n", &self.name("switch"), "link", "set", &port(host), "down"]).unwrap();
    }

    pub fn reconnect(&self, host: &str) {
        ip(&["-n", &self.name("switch"), "link", "set", &port(host), "up"]).unwrap();
    }

    /// These two from each other: what the second answers never leaves it, and the first waits in vain.
    pub fn cut_between(&self, host: &str, from: &str) {
        let to = format!("{}/32", self.address(host));
        ip(&["-n", &self.name(from), "route", "add", "blackhole", &to]).unwrap();
    }

    pub fn reconnect_between(&self, host: &str, from: &str) {
        let to = format!("{}/32", self.address(host));
        ip(&["-n", &self.name(from), "route", "delete", "blackhole", &to]).unwrap();
    }

    /// A command that runs on one of the machines, as the process it is started as.
    pub fn on(&self, host: &str, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(host)]).arg(program);
        command
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for host in self.hosts.iter().chain(&["switch"]) {
            let _ = ip(&["netns", "delete", &self.name(host)]);
        }
    }
}

fn ip(arguments: &[&str]) -> Option<()> {
    let output = Command::new("ip").args(arguments).output().ok()?;
    if !output.status.success() {
        eprintln!("ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success().then_some(())
}

/// Of the switch.
fn port(host: &str) -> String {
    format!("to-{host}")
}
