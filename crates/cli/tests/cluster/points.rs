//! SIGKILL at each named point: the process dies there, and the answer is that of one process.

use crate::harness::{Cluster, Data, caudal, wait_until};

/// Kills the first worker that reaches the point, and goes on with those that are left.
fn worker_killed_at(point: &str, data: &Data) -> Cluster {
    let cluster = Cluster::with_failpoints((1, ""), (3, &format!("{point}=kill")));
    killed_at(cluster, point, data)
}

fn gateway_killed_at(point: &str) {
    let data = Data::of("coffee", "0.004");
    let cluster = Cluster::with_failpoints((2, &format!("{point}=kill")), (2, ""));
    killed_at(cluster, point, &data);
}

fn killed_at(mut cluster: Cluster, point: &str, data: &Data) -> Cluster {
    cluster.check("coffee", data);
    let (name, _) = point.split_once('@').unwrap_or((point, ""));
    let victim = cluster.victim_of(name);
    println!("{point}: {victim:?} died");
    assert!(victim.is_some(), "{point} was not reached");
    cluster.nothing_is_left();
    cluster
}

#[test]
fn a_map_worker_at_every_point() {
    for point in ["map.running@2", "map.before_publish@2", "publish.sent@3", "map.confirmed@2"] {
        let cluster = worker_killed_at(point, &Data::of("coffee", "0.004"));
        assert!(
            cluster.said("fragment delivered again") > 0,
            "{point}: its fragment was not delivered again"
        );
    }
}

#[test]
fn a_shard_worker_before_and_after_its_journal() {
    for point in ["shard.before_journal@2", "journal.before_write@2", "shard.journaled@2"] {
        let cluster = worker_killed_at(point, &Data::of("coffee", "0.004"));
        assert!(cluster.said("shard taken over") > 0, "{point}: nobody took over");
    }
}

#[test]
fn a_shard_worker_while_it_completes() {
    let points = [
        "shard.complete",
        "shard.completing",
        "outputs.before_commit",
        "shard.committed",
        "shard.published",
    ];
    for point in points {
        let cluster = worker_killed_at(point, &Data::of("coffee", "0.004"));
        // After the last baton nobody needs to take over.
        if point != "shard.published" {
            assert!(cluster.said("shard taken over") > 0, "{point}: nobody took over");
        }
    }
}

#[test]
fn a_gateway_while_it_opens_a_session() {
    for point in ["open.slot", "open.manifest", "open.queues", "open.batons", "open.announced"] {
        gateway_killed_at(point);
    }
}

#[test]
fn a_gateway_while_it_serves_a_session() {
    for point in ["put.before_publish@3", "put.confirmed@3", "end.half", "result.sent@2"] {
        gateway_killed_at(point);
    }
}

#[test]
fn a_gateway_while_it_closes_a_session() {
    for point in ["close.tombstone", "close.queues", "close.folder", "close.slot"] {
        gateway_killed_at(point);
    }
}

/// The output of a fragment of a sort to a shard takes several messages; the worker dies after some of
/// them, and those of the second attempt come on top.
#[test]
fn a_map_worker_between_the_parts_of_a_fragment() {
    let data = Data::of("coffee", "0.002");
    let table = format!(
        "t={}",
        data.folder.join("transaction_items/transaction_items_20230[78].csv").display()
    );
    let query = |more: &[&str]| {
        let mut command = caudal();
        let sql = "SELECT *, repeat(transaction_id, 200) AS wide FROM t
                   ORDER BY transaction_id, item_id, quantity, created_at";
        command.args(["query", "-c", sql, "--table", &table]).args(more);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let mut cluster = Cluster::with_failpoints((1, ""), (3, "part.confirmed=kill"));
    let answer = query(&["--gateway", &cluster.gateways[0]]);
    let victim = cluster.victim_of("part.confirmed").expect("a fragment was divided");
    println!("part.confirmed: {victim} died");
    assert!(cluster.said("fragment delivered again") > 0, "its fragment was not delivered again");
    assert!(answer.len() > 1 << 20, "{} bytes", answer.len());
    assert!(answer == query(&[]), "the answer is not that of one process");
    cluster.nothing_is_left();
}

/// Needs a journal long enough for a snapshot.
#[test]
fn a_shard_worker_while_it_writes_a_snapshot() {
    let data = Data::of("coffee", "0.03");
    for point in ["shard.before_snapshot", "journal.snapshot_written", "journal.compacting@3"] {
        let cluster = worker_killed_at(point, &data);
        assert!(cluster.said("shard taken over") > 0, "{point}: nobody took over");
    }
}

/// Every worker that runs a fragment of this session dies: the session fails and says which one.
#[test]
fn a_fragment_that_kills_workers_fails_its_session() {
    let data = Data::of("coffee", "0.004");
    let mut cluster = Cluster::of(1, 1);
    cluster.kill("worker-1");
    let mut client = cluster.client("coffee", &data.folder, "out");
    let mut deaths = 0;
    while !client.is_done() && deaths < 30 {
        let name = format!("deadly-{deaths}");
        cluster.start_worker(&name, "map.running=kill");
        // Each process has a folder of its own to hit: all of them die.
        let hit = cluster.path("hits").join("map.running");
        wait_until("it dies, or the session fails", || hit.exists() || client.is_done());
        let _ = std::fs::remove_file(hit);
        deaths += 1;
    }
    let status = client.wait();
    assert_eq!(status.code(), Some(1), "{}", client.said());
    assert!(client.said().contains("CDL-5008"), "{}", client.said());
    assert!(client.said().contains("fragment t"), "{}", client.said());
    assert!(deaths >= 3, "only {deaths} workers died");
}
