//! The RabbitMQ that `caudal up` starts is a part like any other: it may be killed, and so may its keeper.

use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_monitor::Process;
use rustix::process::Signal;

use crate::harness::{Client, Cluster, Data, block_on, is_of_a_session, wait_until};
use crate::kills::upload_has_begun;
use crate::watched::Watched;

#[test]
fn whoever_kills_or_freezes_rabbitmq_or_its_keeper_the_answer_is_exact() {
    let data = Data::of("coffee", "0.02");
    let cluster = Watched::up_with_rabbit();

    // RabbitMQ alone, in the middle of a run: its keeper starts another one.
    let keeper = cluster.process("broker-1");
    let first = killed_in_a_run(&cluster, &data, "killed", Signal::KILL);
    assert_eq!(cluster.process("broker-1"), keeper);

    // The keeper alone: RabbitMQ does not notice, and the next keeper finds it.
    let second = rabbit(&cluster).unwrap();
    assert_ne!(second, first);
    let gone = cluster.kill(&["broker-1".to_string()]);
    cluster.is_whole_without(&gone);
    assert_eq!(rabbit(&cluster), Some(second));
    run(&cluster, &data, "kept");

    // Both at once.
    second.signal(Signal::KILL);
    let gone = cluster.kill(&["broker-1".to_string()]);
    cluster.is_whole_without(&gone);
    let third = rabbit(&cluster).unwrap();
    assert_ne!(third, second);

    // Frozen.
    let frozen = killed_in_a_run(&cluster, &data, "frozen", Signal::STOP);

    let last = rabbit(&cluster).unwrap();
    assert_ne!(last, frozen);
    cluster.nobody_is_there_twice();
    let said = String::from_utf8(cluster.command("status").stdout).unwrap();
    assert!(said.contains(&format!("RabbitMQ, pid {}", last.pid)), "{said}");
    assert!(cluster.command("down").status.success());
    assert!(!last.is_alive(), "RabbitMQ is left over");
}

#[test]
fn a_rabbitmq_whose_cluster_is_dead_is_used_by_the_next() {
    let cluster = Watched::up_with_rabbit();
    let first = rabbit(&cluster).unwrap();
    cluster.kill(&cluster.names());
    assert!(first.is_alive());
    let up = cluster.up_again();
    assert!(up.status.success(), "{up:?}");
    assert_eq!(rabbit(&cluster), Some(first));
    assert!(cluster.command("down").status.success());
    assert!(!first.is_alive(), "RabbitMQ is left over");
}

/// One that nobody keeps.
#[test]
fn a_broker_that_is_killed_and_restarted() {
    let data = Data::of("coffee", "0.02");
    let folder = tempfile::tempdir().unwrap();
    let mut rabbit = block_on(PrivateRabbit::start(folder.path())).unwrap();
    let mut cluster = Cluster::new();
    cluster.broker_url = rabbit.url();
    cluster.start_gateway("");
    cluster.start_worker("worker-1", "");
    cluster.start_worker("worker-2", "");
    answered(|| {
        wait_until("nothing is left", || cluster.records() == 0);
        let mut client = cluster.client("coffee", &data.folder, "out");
        upload_has_begun(&cluster, &mut client);
        block_on(rabbit.kill());
        block_on(rabbit.launch()).unwrap();
        (client, ())
    });
    data.compare(&cluster.path("out"));
    let queues = || block_on(rabbit.queues()).unwrap();
    wait_until("queues are removed", || !queues().iter().any(|(name, _)| is_of_a_session(name)));
}

fn rabbit(cluster: &Watched) -> Option<Process> {
    let rabbit = PrivateRabbit::find(&cluster.folder.path().join("broker")).unwrap();
    rabbit.pid().and_then(Process::of)
}

fn run(cluster: &Watched, data: &Data, out: &str) {
    cluster.client("coffee", &data.folder, out).succeeds();
    data.compare(&cluster.path(out));
}

/// Hits RabbitMQ when the shards have written something, and says which process that was.
fn killed_in_a_run(cluster: &Watched, data: &Data, out: &str, signal: Signal) -> Process {
    let victim = answered(|| {
        cluster.is_whole_without(&[]);
        wait_until("nothing is left", || !cluster.has_records());
        let mut client = cluster.client("coffee", &data.folder, out);
        wait_until("shards write", || cluster.has_records() || client.is_done());
        assert!(!client.is_done(), "it ended before anything happened: {}", client.said());
        let victim = rabbit(cluster).unwrap();
        victim.signal(signal);
        wait_until("it is gone", || !victim.is_alive());
        (client, victim)
    });
    cluster.is_whole_without(&[]);
    data.compare(&cluster.path(out));
    victim
}

/// Runs a client and hits RabbitMQ: the client is answered. Now and then a RabbitMQ that is killed forgets a queue that was
/// declared just before; then as well.
fn answered<T>(hit: impl FnOnce() -> (Client, T)) -> T {
    let (client, victim) = hit();
    client.succeeds();
    victim
}
