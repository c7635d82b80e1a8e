//! Eight tenants at full speed on workers that may have 512 MB each: nobody is killed, every answer is right.
//!
//! The most that a worker ever had resident is what the kernel would have killed it for: it has to be below the bound. Where
//! `CAUDAL_CGROUP` names a memory cgroup (v1) to make others in, the kernel is told the bound, and has the last word.
//!
//! ```text
//! CAUDAL_TENANTS_RUNS=5 cargo test -p caudal-cli --test cluster tenants -- --nocapture
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::harness::{Client, Cluster, Data, caudal};
use crate::load::number;

const TENANTS: usize = 8;
const WORKERS: [&str; 2] = ["worker-1", "worker-2"];
const WORKER_BYTES: u64 = 512 << 20;
/// Half of it, as is the default of a container of that size.
const WORKER_MEMORY: &str = "256M";
const RUNS: usize = 1;
const SUITES: [(&str, &str); 4] =
    [("coffee", "0.1"), ("movies", "0.05"), ("books", "0.02"), ("steam", "0.005")];

#[test]
fn eight_tenants_on_workers_of_512_mb() {
    let parent = std::env::var_os("CAUDAL_CGROUP").map(PathBuf::from);
    // Dropped after the cluster, whose workers are in them.
    let groups: Vec<Group> = match &parent {
        Some(parent) => WORKERS.map(|name| Group::make(parent, name, WORKER_BYTES)).into(),
        None => vec![],
    };
    let mut cluster = Cluster::new();
    let tokens: Vec<String> = (0..TENANTS).map(|tenant| format!("tenant-{tenant}")).collect();
    fs::write(cluster.path("tokens"), tokens.join("\n")).unwrap();
    let file = cluster.path("tokens").display().to_string();
    cluster.gateway_options = vec!["--tokens".into(), file];
    cluster.start_gateway("");
    cluster.start_gateway("");
    for name in WORKERS {
        let more = ["--threads", "1", "--memory", WORKER_MEMORY];
        let arguments = cluster.node_arguments("worker", name, &more);
        cluster.start(name, arguments, "");
    }
    for (group, name) in groups.iter().zip(WORKERS) {
        group.take(cluster.nodes[name].child.id());
    }

    let (runs, began) = (number("CAUDAL_TENANTS_RUNS", RUNS), Instant::now());
    let data = SUITES.map(|(suite, scale)| (suite, Data::of(suite, scale)));
    std::thread::scope(|scope| {
        for (tenant, token) in tokens.iter().enumerate() {
            let (data, cluster) = (&data, &cluster);
            scope.spawn(move || {
                for run in 0..runs {
                    let (suite, data) = &data[(tenant + run) % data.len()];
                    let out = format!("out-{tenant}-{run}");
                    let mut command = caudal();
                    command.args(["run", suite, "--gateway", &cluster.gateways.join(",")]);
                    command.arg("--data").arg(&data.folder).arg("--out").arg(cluster.path(&out));
                    command.env("CAUDAL_TOKEN", token);
                    Client::start(command, &cluster.path(&format!("{out}.log"))).succeeds();
                    data.compare(&cluster.path(&out));
                }
            });
        }
    });
    for (name, node) in &mut cluster.nodes {
        assert!(node.child.try_wait().unwrap().is_none(), "{name} has ended");
    }
    let most = WORKERS.map(|name| most_resident_bytes(cluster.nodes[name].child.id()));
    println!(
        "{} runs of {TENANTS} tenants in {:.0} s, all exact; the most that workers had: {:?} MB{}",
        TENANTS * runs,
        began.elapsed().as_secs_f64(),
        most.map(|bytes| bytes >> 20),
        if groups.is_empty() { "" } else { ", in cgroups of 512 MB" }
    );
    assert!(most.iter().all(|bytes| *bytes < WORKER_BYTES), "{most:?}");
    for group in &groups {
        assert_eq!(group.kills(), 0, "the kernel has killed in {}", group.path.display());
    }
    cluster.nothing_is_left();
}

fn most_resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// A memory cgroup, removed when it is dropped, by which time whoever was in it has to be gone.
struct Group {
    path: PathBuf,
}

impl Group {
    fn make(parent: &Path, name: &str, bytes: u64) -> Self {
        let path = parent.join(format!("caudal-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        let group = Self { path };
        fs::write(group.path.join("memory.limit_in_bytes"), bytes.to_string()).unwrap();
        group
    }

    fn take(&self, pid: u32) {
        fs::write(self.path.join("cgroup.procs"), pid.to_string()).unwrap();
    }

    fn kills(&self) -> u64 {
        let control = fs::read_to_string(self.path.join("memory.oom_control")).unwrap();
        let kills = control.lines().find_map(|line| line.strip_prefix("oom_kill "));
        kills.expect("the kernel counts").parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.path) {
            eprintln!("{}: {error}", self.path.display());
        }
    }
}
