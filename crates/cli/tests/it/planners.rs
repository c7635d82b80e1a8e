//! No query of a tenant can end a gateway: it is planned by another process, which may die of it.
//!
//! The gateways, and a worker, are a process of their own here: this program, started again. So they can die.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use caudal_testing::wait_until;

use crate::place::{Place, Ran};
use crate::small_cluster::SmallCluster;

/// Set for the process that is the cluster: the program whose planners it has, or nothing.
const PLANNER: &str = "CAUDAL_TEST_PLANNER";
const GATEWAYS: &str = "the gateways are ";

/// Not a test but the cluster, where somebody has asked for one: until its input ends.
#[test]
fn the_cluster() {
    let Ok(planner) = std::env::var(PLANNER) else { return };
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr).init();
    let mut cluster = SmallCluster::planned_by((!planner.is_empty()).then(|| planner.into()));
    cluster.add_worker();
    println!("{GATEWAYS}{}", cluster.gateways);
    let _ = std::io::stdin().read(&mut [0]);
}

struct Cluster {
    process: Child,
    gateways: String,
    place: Place,
}

impl Cluster {
    fn start(env: &[(&str, &str)]) -> Self {
        Self::planned_by(env!("CARGO_BIN_EXE_caudal"), env)
    }

    fn planned_by(planner: &str, env: &[(&str, &str)]) -> Self {
        let place = Place::with("t.csv", "n\n1\n2\n");
        fs::create_dir(place.path("hits")).unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "planners::the_cluster", "--nocapture"])
            .env(PLANNER, planner)
            .env("CAUDAL_FAILPOINT_HITS", place.path("hits"))
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(place.path("log")).unwrap())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let gateways = lines.map(Result::unwrap).find_map(|line| {
            let (_, gateways) = line.split_once(GATEWAYS)?;
            Some(gateways.to_string())
        });
        Self { process, gateways: gateways.expect("it starts"), place }
    }

    /// A run of the program, with its SQL in a file: it may be longer than a command line.
    fn query(&self, sql: &str) -> Command {
        let file = format!("{}.sql", fastrand::u64(..));
        fs::write(self.place.path(&file), sql).unwrap();
        let args = ["query", "-t", "t=t.csv", "--gateway", &self.gateways, "-f", &file];
        let mut command = self.place.command(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn ask(&self, sql: &str) -> Ran {
        self.query(sql).output().unwrap().into()
    }

    /// Runs, and gives the right answer.
    #[track_caller]
    fn serves(&mut self) {
        assert_eq!(self.ask("SELECT sum(n) AS s FROM t").answer(), "s\n3\n");
        assert!(self.is_running(), "{}", self.log());
    }

    fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// The planners that run, those of both gateways.
    fn planners(&self) -> Vec<u32> {
        let (pid, tasks) = (self.process.id(), format!("/proc/{}/task", self.process.id()));
        assert!(fs::exists(&tasks).unwrap(), "{pid} is gone");
        let threads = fs::read_dir(tasks).unwrap().map(|thread| thread.unwrap().path());
        let children = threads.map(|thread| fs::read_to_string(thread.join("children")).unwrap());
        children.collect::<String>().split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    fn log(&self) -> String {
        self.place.read("log")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_running(pid: u32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap()
}

/// A query with an allocation that no machine can make, while a constant is folded: functions have bounds.
const TOO_LARGE: &str =
    "SELECT length(repeat(arrow_cast('x', 'LargeUtf8'), 4000000000000000000)) AS n";

/// One that a machine may make, and a planner may not.
const LARGE: &str = "SELECT length(repeat(arrow_cast('x', 'LargeUtf8'), 3000000000)) AS n";

/// A query that takes half a minute to plan, in this build.
fn slow() -> String {
    let terms: Vec<_> = (2..450).map(|number| format!("n % {number}")).collect();
    let parts: Vec<_> =
        (0..40).map(|part| format!("SELECT {part} + {} AS n FROM t", terms.join(" + "))).collect();
    parts.join(" UNION ALL ")
}

#[test]
fn what_would_end_its_planner_does_not_end_a_gateway() {
    let mut cluster = Cluster::start(&[]);
    let deep = format!("SELECT 1{} AS n", " IS NULL".repeat(100_000));
    for (sql, code) in [(deep.as_str(), 2001), (TOO_LARGE, 3005), (LARGE, 3005)] {
        let ran = cluster.ask(sql);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stderr.starts_with(&format!("error[CDL-{code}]: query: ")), "{ran}");
        cluster.serves();
    }
}

#[test]
fn what_is_slow_to_plan_is_ended() {
    let mut cluster = Cluster::start(&[("CAUDAL_KNOBS", "planning_ms_max=3000")]);
    let ran = cluster.ask(&slow());
    assert_eq!(ran.code, Some(1), "{ran}");
    // After what it was waiting for.
    let message = "error[CDL-2015]: query: planning it takes more than 3 s\n";
    assert!(ran.stderr.contains(message), "{ran}");
    assert_eq!(cluster.log().matches("planner took too long").count(), 1, "{}", cluster.log());
    cluster.serves();
}

#[test]
fn others_are_answered_meanwhile() {
    let hangs = ("CAUDAL_FAILPOINT", "planner.begins=sleep:60000");
    let mut cluster = Cluster::start(&[hangs, ("CAUDAL_KNOBS", "planning_ms_max=10000")]);
    let mut slow = cluster.query("SELECT 1 AS one").spawn().unwrap();
    wait_until("it is planned", || fs::exists(cluster.place.path("hits/planner.begins")).unwrap());
    cluster.serves();
    assert!(slow.try_wait().unwrap().is_none(), "it is still planned");
    let ran = Ran::from(slow.wait_with_output().unwrap());
    assert!(ran.stderr.contains("error[CDL-2015]: query: "), "{ran}");
    cluster.serves();
}

#[test]
fn a_planner_that_is_killed_is_replaced_and_nobody_notices() {
    let mut cluster = Cluster::start(&[("CAUDAL_FAILPOINT", "planner.begins=kill")]);
    cluster.serves();
    let killed = cluster.place.read("hits/planner.begins");
    assert!(!is_running(killed.parse().unwrap()));
    let log = cluster.log();
    let told = |line: &&str| line.contains("planner died") && line.contains("killed by signal 9");
    assert_eq!(log.lines().filter(told).count(), 1, "{log}");
    cluster.serves();
}

#[test]
fn planners_end_with_their_gateway_in_the_middle_of_planning() {
    let mut cluster = Cluster::start(&[]);
    let mut client = cluster.query(&slow()).spawn().unwrap();
    wait_until("a planner plans", || !cluster.planners().is_empty());
    sleep(Duration::from_millis(300));
    let planners = cluster.planners();
    assert!(!planners.is_empty());
    cluster.process.kill().unwrap();
    cluster.process.wait().unwrap();
    let killed = Instant::now();
    wait_until("they are gone", || !planners.iter().any(|pid| is_running(*pid)));
    assert!(killed.elapsed() < Duration::from_secs(2), "it would have been planned by now");
    client.kill().unwrap();
    client.wait().unwrap();
}
