//! Nodes that die come back by themselves, whoever else dies with them.

use std::time::{Duration, Instant};

use caudal_monitor::wire::NodeState;
use rustix::process::Signal;

use crate::harness::{Data, caudal, wait_until};
use crate::watched::Watched;

/// Times that were promised, with the settings as they are.
const MEDIAN: Duration = Duration::from_secs(3);
const WORST: Duration = Duration::from_secs(10);
const ROUNDS: usize = 2;

#[test]
fn whoever_is_killed_comes_back_whoever_else_is_killed_with_it() {
    let cluster = Watched::up(&[]);
    let all = cluster.names();
    let but =
        |left: &str| -> Vec<String> { all.iter().filter(|name| *name != left).cloned().collect() };
    let these = |names: &[&str]| -> Vec<String> { names.iter().map(|n| n.to_string()).collect() };
    let cases = [
        ("a worker", these(&["worker-1"])),
        ("a gateway", these(&["gateway-2"])),
        ("a monitor that follows", these(&["monitor-1"])),
        ("the leader", these(&["monitor-3"])),
        ("the leader and its successor", these(&["monitor-3", "monitor-2"])),
        ("a worker and the leader", these(&["worker-2", "monitor-3"])),
        ("all workers and gateways", these(&["worker-1", "worker-2", "gateway-1", "gateway-2"])),
        ("all but the lowest monitor", but("monitor-1")),
        ("all but the leader", but("monitor-3")),
    ];
    let mut times = vec![];
    for round in 1..=ROUNDS {
        for (who, victims) in &cases {
            let gone = cluster.kill(victims);
            let took = cluster.is_whole_without(&gone);
            println!("round {round}: {who}: all back after {:.2} s", took.as_secs_f64());
            times.push(took);
        }
    }
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{} revivals: median {median:.2?}, worst {worst:.2?}", times.len());
    assert!(median <= MEDIAN && worst <= WORST, "{times:.2?}");
    cluster.nobody_is_there_twice();
    let status = cluster.command("status");
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(status.status.success() && said.contains("monitor, leads"), "{said}");
}

/// Every role, one after the other, while a client runs.
#[test]
fn a_frozen_node_is_replaced_and_its_thawing_harms_nothing() {
    let data = Data::of("coffee", "0.02");
    let cluster = Watched::up(&[]);
    for name in ["worker-1", "gateway-1", "monitor-1", "monitor-3"] {
        let client = cluster.client("coffee", &data.folder, &format!("out-{name}"));
        let frozen = cluster.signal(name, Signal::STOP);
        wait_until("it is frozen", || frozen.is_frozen() || !frozen.is_alive());
        let took = cluster.is_whole_without(&[frozen]);
        println!("{name}: frozen, replaced after {:.2} s", took.as_secs_f64());
        assert!(!frozen.is_alive(), "the frozen one is still there");
        client.succeeds();
        data.compare(&cluster.path(&format!("out-{name}")));
    }
    cluster.nobody_is_there_twice();
}

/// It thaws when it is about to be replaced: killed or not, there is one of it, and one leader.
#[test]
fn a_leader_that_thaws_at_the_last_moment_harms_nothing() {
    let cluster = Watched::up(&[]);
    for after_ms in [1400, 1700, 1900, 2100, 2300] {
        let worker = cluster.kill(&["worker-1".to_string()]);
        let leader = cluster.signal("monitor-3", Signal::STOP);
        std::thread::sleep(Duration::from_millis(after_ms));
        leader.signal(Signal::CONT);
        cluster.is_whole_without(&worker);
        cluster.nobody_is_there_twice();
    }
}

/// Far more threads that compute than there are processors, and a client: nobody is taken for dead.
#[test]
fn busy_is_not_dead() {
    let data = Data::of("coffee", "0.02");
    let cluster = Watched::up(&[]);
    let before: Vec<_> = cluster.names().iter().map(|name| cluster.process(name)).collect();
    let threads = 8 * std::thread::available_parallelism().unwrap().get();
    let until = Instant::now() + Duration::from_secs(12);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| while Instant::now() < until {});
        }
        cluster.client("coffee", &data.folder, "out").succeeds();
    });
    data.compare(&cluster.path("out"));
    let after: Vec<_> = cluster.names().iter().map(|name| cluster.process(name)).collect();
    assert_eq!(before, after, "somebody busy was taken for dead");
}

/// The thread that answers is well; the main loop is not.
#[test]
fn a_node_whose_main_loop_is_stuck_is_replaced() {
    let hits = tempfile::tempdir().unwrap();
    let hits_path = hits.path().display().to_string();
    let environment = [
        ("CAUDAL_FAILPOINT", "health.heartbeat@30=sleep:600000"),
        ("CAUDAL_FAILPOINT_HITS", &hits_path),
    ];
    let cluster = Watched::up(&environment);
    let hit = hits.path().join("health.heartbeat");
    wait_until("a main loop is stuck", || hit.exists());
    let began = Instant::now();
    let pid: u32 = std::fs::read_to_string(hit).unwrap().parse().unwrap();
    let names = cluster.names();
    let victim = names.iter().find(|name| cluster.process(name).pid == pid).unwrap();
    let stuck = cluster.process(victim);
    wait_until("it says that it is stuck", || {
        cluster.health().get(victim).is_some_and(|health| health.state == NodeState::Stuck)
    });
    cluster.is_whole_without(&[stuck]);
    println!("{victim}: stuck, replaced after {:.2?}", began.elapsed());
    assert!(cluster.log(victim).contains("the main loop does not move"));
    cluster.nobody_is_there_twice();
}

/// The leader has started a node and dies before it can write that down.
#[test]
fn a_launcher_that_dies_half_way_leaves_one_node() {
    let cluster = Watched::up(&[]);
    let monitors = ["monitor-1", "monitor-2", "monitor-3"];
    for point in ["launch.started", "launch.before_start"] {
        let hits = tempfile::tempdir().unwrap();
        let hits_path = hits.path().display().to_string();
        let fail = format!("{point}=kill");
        let environment =
            [("CAUDAL_FAILPOINT", fail.as_str()), ("CAUDAL_FAILPOINT_HITS", &hits_path)];
        cluster.kill(&monitors.map(String::from));
        monitors.iter().for_each(|name| cluster.start(name, &environment));
        cluster.is_whole_without(&[]);
        let gone = cluster.kill(&["worker-1".to_string()]);
        wait_until("a launcher dies", || hits.path().join(point).exists());
        let took = cluster.is_whole_without(&gone);
        println!("{point}: the launcher died; all back after {took:.2?}");
        cluster.nobody_is_there_twice();
    }
}

#[test]
fn a_second_copy_of_a_node_refuses_to_start() {
    let cluster = Watched::up(&[]);
    let path = cluster.folder.path();
    for (role, name) in [("worker", "worker-1"), ("monitor", "monitor-2")] {
        let mut copy = caudal();
        copy.args([role, "--name", name, "--cluster"]).arg(path);
        if role == "worker" {
            copy.args(["--store", "memory:"]);
        }
        let output = copy.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("CDL-6034"), "{said}");
        assert_eq!(cluster.restarts(name), 0);
    }
    cluster.is_whole_without(&[]);
}

#[test]
fn every_role_leaves_in_time_when_it_is_told_to_under_load() {
    let data = Data::of("coffee", "0.03");
    let cluster = Watched::up(&[]);
    let mut clients: Vec<_> =
        (0..2).map(|n| cluster.client("coffee", &data.folder, &format!("out-{n}"))).collect();
    let mut told = vec![];
    for name in ["worker-1", "gateway-1", "gateway-2", "monitor-3", "monitor-1"] {
        wait_until("there is work", || cluster.has_records());
        let began = Instant::now();
        let process = cluster.signal(name, Signal::TERM);
        assert!(process.wait(Duration::from_secs(5)), "{name} does not leave");
        println!("{name}: left {:.2?} after SIGTERM", began.elapsed());
        told.push(process);
    }
    for client in &mut clients {
        assert!(!client.is_done(), "it was over before all were told: {}", client.said());
    }
    cluster.is_whole_without(&told);
    clients.into_iter().for_each(|client| client.succeeds());
    (0..2).for_each(|n| data.compare(&cluster.path(&format!("out-{n}"))));
}

/// A worker is slow to leave, and others have just died: nothing is left, and nothing comes again.
#[test]
fn what_is_taken_down_stays_down() {
    let data = Data::of("coffee", "0.02");
    let hits = tempfile::tempdir().unwrap();
    let hits_path = hits.path().display().to_string();
    let environment =
        [("CAUDAL_FAILPOINT", "map.running=sleep:60000"), ("CAUDAL_FAILPOINT_HITS", &hits_path)];
    let cluster = Watched::up(&environment);
    let names = cluster.names();
    let mut client = cluster.client("coffee", &data.folder, "out");
    wait_until("a worker is slow", || hits.path().join("map.running").exists());
    cluster.kill(&["gateway-1", "monitor-1"].map(String::from));
    let began = Instant::now();
    let down = cluster.command("down");
    assert!(down.status.success(), "{down:?}");
    assert!(began.elapsed() > Duration::from_secs(2), "nobody was slow to leave");
    let until = Instant::now() + Duration::from_secs(4);
    while Instant::now() < until {
        for name in &names {
            assert!(cluster.folder.processes(name).is_empty(), "{name} is there");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    client.child.kill().unwrap();
    client.child.wait().unwrap();
}
