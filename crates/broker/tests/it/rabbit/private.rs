//! The private RabbitMQ itself.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use caudal_broker::rabbitmq::private::{Error, PrivateRabbit};
use caudal_broker::{Broker, QueueKind};
use caudal_testing::until;
use tokio::time::timeout;

use crate::support::{connect, drain, numbered, own_rabbit, queues, soon};

const TO_BE_KILLED: &str = "CAUDAL_TEST_TO_BE_KILLED";

#[tokio::test]
async fn one_of_ours_ends_when_we_are_killed() {
    let this = std::env::current_exe().unwrap();
    let mut process = Command::new(this)
        .args(["--exact", "rabbit::private::a_process_to_be_killed", "--nocapture"])
        .env(TO_BE_KILLED, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut pids = lines.filter_map(|line| line.unwrap().strip_prefix("broker ")?.parse().ok());
    let broker: u32 = pids.next().expect("the process has started a broker");
    process.kill().unwrap();
    process.wait().unwrap();
    until("the broker ends too", async || !Path::new(&format!("/proc/{broker}")).exists()).await;
}

/// The process of the test above; nothing where it was not started by that.
#[tokio::test]
async fn a_process_to_be_killed() {
    if std::env::var_os(TO_BE_KILLED).is_none() {
        return;
    }
    let rabbit = own_rabbit("orphaned").await;
    println!("\nbroker {}", rabbit.pid().unwrap());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_detached_one_stays_until_it_is_stopped_and_keeps_its_messages() {
    let directory = tempfile::tempdir().unwrap();
    let mut started = PrivateRabbit::prepare(directory.path()).unwrap();
    assert_eq!(started.pid(), None);
    started.launch().await.unwrap();
    let pid = started.pid().unwrap();
    drop(started);

    let mut found = PrivateRabbit::find(directory.path()).unwrap();
    assert_eq!(found.pid(), Some(pid));
    assert!(found.rss_bytes().unwrap() > 10 << 20);
    let (broker, queue) = (connect(&found).await, queues().map());
    broker.declare(&queue, QueueKind::Work { messages_max: 10 }).await.unwrap();
    broker.send(&queue, numbered(7)).await.unwrap();
    found.stop().await;
    assert_eq!(found.pid(), None);

    found.launch().await.unwrap();
    assert_eq!(found.queues().await.unwrap(), [(queue.clone(), 1)]);
    let mut consumer = soon(broker.consume(&queue, 1)).await.unwrap();
    assert_eq!(drain(&mut consumer, 1).await, [7]);
    found.stop().await;
}

#[tokio::test]
async fn one_that_cannot_start_says_so_at_once() {
    let directory = tempfile::tempdir().unwrap();
    // Where its database should be.
    std::fs::write(directory.path().join("mnesia"), "a file").unwrap();
    let starting = PrivateRabbit::start(directory.path());
    let started = timeout(Duration::from_secs(60), starting).await.expect("it is noticed");
    assert!(matches!(started, Err(Error::NotRunning { .. })), "{started:?}");
}
