//! Queries that compute for long: nobody is taken for dead, others are answered meanwhile, and the end of a session is
//! the end of its work.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::{Client, Data, caudal, wait_until};
use crate::watched::Watched;

/// Tries 40 billion pairs and finds none: hours of it.
const CROSS_JOIN: &str = "SELECT count(*) FROM a, b WHERE a.x * b.y = -1";

/// Longer than a main loop may stand still before its node is replaced.
const LONG: Duration = Duration::from_secs(15);

/// Time that the end of a session may take to end its work.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

#[test]
fn a_query_that_computes_for_long_is_nobodys_end_and_ends_with_its_session() {
    let data = Data::of("coffee", "0.002");
    let cluster = Watched::up(&[]);
    let tables = tables(&cluster.path("tables"));
    let before = cluster.names().into_iter().map(|name| cluster.process(&name)).collect::<Vec<_>>();

    let mut slow = Client::start(ask(&cluster, &tables, &[]), &cluster.path("slow.log"));
    wait_until("workers compute", || busy_for(&cluster) > Duration::from_secs(1));
    let began = Instant::now();
    cluster.client("coffee", &data.folder, "out").succeeds();
    data.compare(&cluster.path("out"));
    println!("beside it: answered in {:.2} s", began.elapsed().as_secs_f64());
    std::thread::sleep(LONG.saturating_sub(began.elapsed()));
    assert!(!slow.is_done(), "{}", slow.said());
    let after = cluster.names().into_iter().map(|name| cluster.process(&name)).collect::<Vec<_>>();
    assert_eq!(before, after, "somebody who computes was taken for dead");
    let status = caudal().args(["status", "--dir"]).arg(cluster.folder.path()).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    for (who, said) in [("status", status), ("the client", slow.said())] {
        assert!(said.contains(" computes stage "), "{who} says what is computed: {said}");
    }

    let gateway = cluster.members.nodes.iter().find_map(|node| node.listen.clone()).unwrap();
    let sessions = caudal().args(["sessions", "--gateway", &gateway]).output().unwrap();
    let sessions = String::from_utf8(sessions.stdout).unwrap();
    let is_id = |word: &&str| word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let id = sessions.split(|c: char| !c.is_alphanumeric()).find(is_id).expect(&sessions);
    let cancelled = caudal().args(["cancel", id, "--gateway", &gateway]).status().unwrap();
    assert!(cancelled.success());
    is_idle_soon(&cluster, "cancelled");
    assert!(!slow.wait().success());
}

#[test]
fn a_query_ends_when_its_time_is_over_and_so_does_its_work() {
    let cluster = Watched::up(&[]);
    let tables = tables(&cluster.path("tables"));
    let began = Instant::now();
    let log = cluster.path("late.log");
    let mut late = Client::start(ask(&cluster, &tables, &["--timeout", "4s"]), &log);
    wait_until("workers compute", || busy_for(&cluster) > Duration::from_millis(500));
    assert_eq!(late.wait().code(), Some(1));
    assert!(late.said().contains("CDL-3010"), "{}", late.said());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    is_idle_soon(&cluster, "timed out");

    let began = Instant::now();
    let mut here = caudal();
    here.args(["query", "--timeout", "1s", "-c", CROSS_JOIN]).args(&tables);
    let here = here.output().unwrap();
    let said = String::from_utf8(here.stderr).unwrap();
    assert!(here.status.code() == Some(1) && said.contains("CDL-3010"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

/// 200,000 rows each.
fn tables(folder: &Path) -> Vec<String> {
    fs::create_dir_all(folder).unwrap();
    [("a", "x"), ("b", "y")]
        .into_iter()
        .flat_map(|(table, column)| {
            let rows = (1..=200_000).map(|n| format!("{n}\n")).collect::<String>();
            let file = folder.join(format!("{table}.csv"));
            fs::write(&file, format!("{column}\n{rows}")).unwrap();
            ["-t".to_string(), format!("{table}={}", file.display())]
        })
        .collect()
}

fn ask(cluster: &Watched, tables: &[String], more: &[&str]) -> Command {
    let nodes = cluster.members.nodes.iter();
    let gateways: Vec<&str> = nodes.filter_map(|node| node.listen.as_deref()).collect();
    let mut command = caudal();
    command.args(["query", "-c", CROSS_JOIN, "--gateway", &gateways.join(",")]);
    command.args(tables).args(more);
    command
}

/// CPU time that the workers have taken, all together.
fn busy_for(cluster: &Watched) -> Duration {
    let ticks = |pid: u32| -> u64 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let names = cluster.names().into_iter().filter(|name| name.starts_with("worker"));
    let ticks: u64 = names.map(|name| ticks(cluster.process(&name).pid)).sum();
    Duration::from_millis(ticks * 10)
}

/// After what a session's end may take, workers do next to nothing.
fn is_idle_soon(cluster: &Watched, why: &str) {
    std::thread::sleep(ENDS_WITHIN);
    let before = busy_for(cluster);
    std::thread::sleep(Duration::from_secs(2));
    let after = busy_for(cluster) - before;
    println!("{why}: {} ms of CPU in 2 s, {} s later", after.as_millis(), ENDS_WITHIN.as_secs());
    assert!(after < Duration::from_millis(600), "{why}: {after:?} of work that nobody waits for");
}
