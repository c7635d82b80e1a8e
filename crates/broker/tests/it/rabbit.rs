//! Behaviour that only RabbitMQ can show: here while it is well.

mod channels;
mod names;
mod outage;
mod private;

use std::sync::Arc;
use std::time::Duration;

use caudal_broker::rabbitmq::{QueueType, Settings};
use caudal_broker::{Broker, Error, QueueKind, RabbitBroker};
use caudal_core::{ShardId, limits};
use caudal_protocol::Message;
use futures::FutureExt;
use futures::future::join_all;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Connection, ConnectionProperties};

use crate::support::{drain, heavy, next, numbered, queues, rabbit, shared_rabbit, soon};

pub const WORK: QueueKind = QueueKind::Work { messages_max: 1000 };

#[tokio::test]
async fn credentials_and_virtual_hosts_that_are_wrong_are_refused() {
    let url = shared_rabbit().await.url();
    for wrong in [url.replace("caudal:", "guest:"), url.replace("%2f", "nowhere")] {
        let refused = soon(RabbitBroker::connect(Settings::new(&wrong))).await.map(drop);
        assert!(matches!(refused, Err(Error::Refused { .. })), "{wrong}: {refused:?}");
    }
}

#[tokio::test]
async fn a_queue_declared_otherwise_is_refused() {
    let (broker, queue) = (rabbit().await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    let refused = broker.declare(&queue, QueueKind::Work { messages_max: 1 }).await;
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    broker.declare(&queue, WORK).await.unwrap();
    broker.delete(&queue).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_too_large_is_not_sent() {
    let (broker, queue) = (rabbit().await, queues().map());
    let large = heavy(0, limits::WIRE_BYTES_MAX);
    let refused = broker.send(&queue, large).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
}

#[tokio::test]
async fn garbage_is_told_and_stays_in_its_queue() {
    let (broker, queue) = (rabbit().await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    publish_raw(&queue, b"GET / HTTP/1.1").await;
    for _ in 0..2 {
        let mut consumer = broker.consume(&queue, 1).await.unwrap();
        let garbage = soon(consumer.next()).await.map(drop);
        assert!(matches!(garbage, Err(Error::Garbage { .. })), "{garbage:?}");
    }
    broker.delete(&queue).await.unwrap();
}

async fn publish_raw(queue: &str, body: &[u8]) {
    let url = shared_rabbit().await.url();
    let connection = Connection::connect(&url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    let (options, properties) = (BasicPublishOptions::default(), BasicProperties::default());
    let sent = channel.basic_publish("".into(), queue.into(), options, body, properties).await;
    assert!(sent.unwrap().await.unwrap().is_ack());
}

#[tokio::test]
async fn quorum_queues_work() {
    let settings =
        Settings { queue_type: QueueType::Quorum, ..Settings::new(shared_rabbit().await.url()) };
    let broker = RabbitBroker::connect(settings).await.unwrap();
    let (work, shard) = (queues().map(), queues().shard(ShardId(0)));
    broker.declare(&work, WORK).await.unwrap();
    broker.declare(&shard, QueueKind::Shard { messages_max: 10 }).await.unwrap();
    broker.declare(&shard, QueueKind::Shard { messages_max: 10 }).await.unwrap();

    join_all((0..100).map(|number| broker.send(&work, numbered(number)))).await;
    let mut consumer = broker.consume(&work, 8).await.unwrap();
    assert_eq!(drain(&mut consumer, 100).await, (0..100).collect::<Vec<_>>());

    let mut active = broker.consume(&shard, 4).await.unwrap();
    let mut standby = broker.consume(&shard, 4).await.unwrap();
    broker.send(&shard, Message::Baton).await.unwrap();
    next(&mut active).await;
    drop(active);
    assert!(next(&mut standby).await.redelivered);

    broker.delete(&work).await.unwrap();
    broker.delete(&shard).await.unwrap();
    assert!(soon(standby.next()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_publish_that_is_dropped_half_way_disturbs_no_other() {
    let (broker, queue) = (rabbit().await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    let mut witness = broker.consume(&queue, 1000).await.unwrap();
    // No more than may be in flight: others would be dropped before they are sent at all.
    let count = limits::PUBLISH_MESSAGES_IN_FLIGHT_MAX as u32;
    for number in 0..count {
        let message = Arc::new(heavy(number, 256 << 10));
        let published = broker.publish(&queue, message).now_or_never();
        assert!(published.is_none(), "it is left before its confirm");
    }
    soon(broker.send(&queue, numbered(count))).await.unwrap();
    // Also those that nobody waited for are sent; the subscription has seen no break.
    let numbers = drain(&mut witness, count as usize + 1).await;
    assert_eq!(numbers, (0..=count).collect::<Vec<_>>());
    broker.delete(&queue).await.unwrap();
}

/// Longer than the broker waits for a heartbeat, this test's only thread does nothing for it.
#[tokio::test]
async fn a_busy_process_keeps_its_connections() {
    let (broker, queue) = (rabbit().await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    broker.send(&queue, numbered(0)).await.unwrap();
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    let delivery = next(&mut consumer).await;
    std::thread::sleep(3 * Duration::from_secs(limits::BROKER_HEARTBEAT_SECONDS.into()));
    assert_eq!(broker.outage(), None);
    consumer.ack(delivery.tag).await.unwrap();
    broker.send(&queue, numbered(1)).await.unwrap();
    let delivery = next(&mut consumer).await;
    assert!(!delivery.redelivered, "the first subscription still stands");
    broker.delete(&queue).await.unwrap();
}

/// Connections end with their last user, wherever that is: what was not acknowledged comes back.
#[tokio::test]
async fn a_dropped_broker_leaves_at_once() {
    let (broker, queue) = (rabbit().await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    broker.send(&queue, numbered(0)).await.unwrap();
    let leaving = tokio::spawn({
        let (broker, queue) = (rabbit().await, queue.clone());
        async move {
            let mut consumer = broker.consume(&queue, 1).await.unwrap();
            drop(broker);
            next(&mut consumer).await;
        }
    });
    soon(leaving).await.unwrap();
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    assert!(next(&mut consumer).await.redelivered);
    broker.delete(&queue).await.unwrap();
}
