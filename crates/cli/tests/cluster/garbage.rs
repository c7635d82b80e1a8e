//! Garbage: on the ports, in the queues. It is refused, and disturbs nobody else.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use caudal_broker::rabbitmq::Settings;
use caudal_broker::{Broker, RabbitBroker};

use crate::harness::{Client, Cluster, Data, block_on, broker, wait_until};

#[test]
fn garbage_on_a_gateways_port_disturbs_nobody() {
    let data = Data::of("coffee", "0.004");
    let cluster = Cluster::of(1, 2);
    let client = cluster.client("coffee", &data.folder, "out");
    for (what, bytes) in garbage() {
        let mut stream = TcpStream::connect(&cluster.gateways[0]).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The gateway may hang up before it has read all.
        let _ = stream.write_all(&bytes);
        let mut answer = vec![];
        let ended = stream.read_to_end(&mut answer);
        let is_timeout = ended.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_timeout, "{what}: the connection is kept");
    }
    client.succeeds();
    data.compare(&cluster.path("out"));
    assert_eq!(cluster.said("panicked"), 0, "{}", cluster.logs());
    cluster.nothing_is_left();
}

fn garbage() -> Vec<(&'static str, Vec<u8>)> {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut random = fastrand::Rng::with_seed(11);
    let noise = (0..100_000).map(|_| random.u8(..)).collect();
    vec![
        ("noise", noise),
        ("HTTP/1", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(30)),
        ("AMQP", b"AMQP\x00\x00\x09\x01\x00\x00\x00\x00\x00\x00\x00\x00".repeat(3)),
        (
            "a frame that is too long",
            [&preface[..], b"\xff\xff\xff\x00\x00\x00\x00\x00\x01"].concat(),
        ),
        ("frames without sense", [&preface[..], &[0xff; 4096]].concat()),
    ]
}

#[test]
fn garbage_in_a_queue_fails_its_session_and_no_other() {
    let (data, cluster) = (Data::of("coffee", "0.004"), &mut Cluster::of(1, 0));
    let mut spoiled = open_session(cluster, &data);
    let shard = cluster.queues().into_iter().find(|queue| queue.ends_with(".shard.0")).unwrap();
    block_on(async {
        let rabbit = RabbitBroker::connect(Settings::new(broker().url())).await.unwrap();
        rabbit.send_encoded(&shard, "not a message".into()).await.unwrap();
    });
    let other = cluster.client("coffee", &data.folder, "other");
    cluster.start_worker("worker-1", "");
    let status = spoiled.wait();
    assert_eq!(status.code(), Some(1), "{}", spoiled.said());
    assert!(spoiled.said().contains("CDL-4008"), "{}", spoiled.said());
    other.succeeds();
    data.compare(&cluster.path("other"));
    cluster.nothing_is_left();
}

/// A RabbitMQ that was killed right after it had made the queue, say.
#[test]
fn a_queue_that_the_broker_has_lost_is_made_again_and_the_answer_is_exact() {
    let data = Data::of("coffee", "0.004");
    for lost in [".map", ".shard.1", ".result.0"] {
        let cluster = &mut Cluster::of(1, 0);
        let client = open_session(cluster, &data);
        let queues = cluster.queues();
        let queue = queues.iter().find(|queue| queue.ends_with(lost));
        let queue = queue.unwrap_or_else(|| panic!("no {lost} in {queues:?}"));
        block_on(broker().control(&["delete_queue", queue])).unwrap();
        cluster.start_worker("worker-1", "");
        client.succeeds();
        data.compare(&cluster.path("out"));
        assert!(cluster.said("queue lost") > 0, "{}", cluster.logs());
        assert!(cluster.said("queues are made again") > 0, "{}", cluster.logs());
        cluster.nothing_is_left();
    }
}

fn open_session(cluster: &Cluster, data: &Data) -> Client {
    let client = cluster.client("coffee", &data.folder, "out");
    wait_until("its fragments wait", || {
        let queues = block_on(broker().queues()).unwrap();
        queues.iter().any(|(name, messages)| name.ends_with(".map") && *messages > 0)
    });
    client
}
