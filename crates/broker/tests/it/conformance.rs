//! Guarantees of every broker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use caudal_broker::{Broker, DeliveryTag, Error, QueueKind, SessionEvent};
use caudal_core::{QueryId, SessionId, ShardId, limits};
use caudal_protocol::{Message, wire};
use futures::FutureExt;
use futures::future::join_all;

use crate::support::{drain, heavy, memory, next, number_of, numbered, queues, rabbit, soon};

/// Runs each promise against both brokers.
macro_rules! promises {
    ($($promise:ident),+ $(,)?) => {
        mod memory_broker {
            $(#[tokio::test]
            async fn $promise() {
                super::$promise(super::memory()).await;
            })+
        }
        mod rabbit {
            $(#[tokio::test]
            async fn $promise() {
                super::$promise(super::rabbit().await).await;
            })+
        }
    };
}

promises!(
    what_is_published_is_delivered,
    what_is_encoded_already_is_delivered_and_waits_for_room,
    what_cannot_be_delivered_is_told,
    a_dropped_consumer_gives_back_what_it_has_not_acknowledged,
    a_standby_takes_over,
    a_full_queue_refuses_until_there_is_room,
    results_have_a_quota,
    results_over_their_quota_wait_for_their_reader,
    a_consumer_ends_with_its_queue,
    whether_anybody_consumes_is_known,
    a_deleted_queue_takes_nothing_and_minds_no_acknowledgement,
    events_reach_every_listener,
    an_acknowledgement_counts_once,
    a_consumer_holds_no_more_than_its_prefetch,
    many_publishes_at_once_are_not_confused,
    a_queue_declared_again_keeps_what_it_holds,
);

const WORK: QueueKind = QueueKind::Work { messages_max: 1000 };
const SHARD: QueueKind = QueueKind::Shard { messages_max: 1000 };

async fn publish(broker: &Arc<dyn Broker>, queue: &str, message: Message) -> Result<(), Error> {
    soon(broker.publish(queue, Arc::new(message))).await
}

async fn publish_numbers(broker: &Arc<dyn Broker>, queue: &str, count: u32) {
    for number in 0..count {
        publish(broker, queue, numbered(number)).await.unwrap();
    }
}

async fn what_is_published_is_delivered(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, WORK).await.unwrap();
    publish_numbers(&broker, &queue, 10).await;
    publish(&broker, &queue, heavy(10, 3 << 20)).await.unwrap();
    let mut consumer = broker.consume(&queue, 4).await.unwrap();
    assert_eq!(drain(&mut consumer, 11).await, (0..=10).collect::<Vec<_>>());
    broker.delete(&queue).await.unwrap();
}

async fn what_is_encoded_already_is_delivered_and_waits_for_room(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, QueueKind::Work { messages_max: 1 }).await.unwrap();
    let encoded = |number| wire::encode(&heavy(number, 1 << 20)).unwrap();
    let mut sent = 0;
    let refused = loop {
        match soon(broker.publish_encoded(&queue, encoded(sent))).await {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent < 10, "a queue of one message takes no ten");
    };
    assert!(matches!(refused, Error::Full { .. }), "{refused}");
    let mut waiting = broker.send_encoded(&queue, encoded(sent)).boxed();
    assert!((&mut waiting).now_or_never().is_none(), "there is no capacity");
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    assert_eq!(drain(&mut consumer, sent as usize).await, (0..sent).collect::<Vec<_>>());
    soon(waiting).await.unwrap();
    assert_eq!(drain(&mut consumer, 1).await, [sent]);
    let too_long = vec![0; limits::WIRE_BYTES_MAX + 1].into();
    let refused = soon(broker.publish_encoded(&queue, too_long)).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. } | Error::Garbage { .. }), "{refused}");
    broker.delete(&queue).await.unwrap();
}

async fn what_cannot_be_delivered_is_told(broker: Arc<dyn Broker>) {
    let (there, missing) = (queues().map(), queues().map());
    broker.declare(&there, WORK).await.unwrap();
    let mut bystander = broker.consume(&there, 1).await.unwrap();
    for _ in 0..20 {
        let published = publish(&broker, &missing, numbered(0)).await;
        assert!(matches!(published, Err(Error::NoQueue { queue }) if queue == missing));
        let consumed = soon(broker.consume(&missing, 1)).await.map(drop);
        assert!(matches!(consumed, Err(Error::NoQueue { queue }) if queue == missing));
    }
    publish_numbers(&broker, &there, 1).await;
    assert_eq!(drain(&mut bystander, 1).await, [0], "others are not disturbed");
    broker.delete(&there).await.unwrap();
}

async fn a_dropped_consumer_gives_back_what_it_has_not_acknowledged(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, WORK).await.unwrap();
    publish_numbers(&broker, &queue, 100).await;
    let mut lost = broker.consume(&queue, 100).await.unwrap();
    let mut taken = vec![];
    for _ in 0..100 {
        let delivery = next(&mut lost).await;
        assert!(!delivery.redelivered);
        taken.push(delivery);
    }
    for delivery in &taken[..40] {
        lost.ack(delivery.tag).await.unwrap();
    }
    drop(lost);
    let mut other = broker.consume(&queue, 100).await.unwrap();
    let mut again = vec![];
    for _ in 40..100 {
        let delivery = next(&mut other).await;
        assert!(delivery.redelivered);
        other.ack(delivery.tag).await.unwrap();
        again.push(number_of(&delivery));
    }
    again.sort_unstable();
    let expected: Vec<u32> = taken[40..].iter().map(number_of).collect();
    assert_eq!(again, expected);
    broker.delete(&queue).await.unwrap();
}

async fn a_standby_takes_over(broker: Arc<dyn Broker>) {
    let queue = queues().shard(ShardId(0));
    broker.declare(&queue, SHARD).await.unwrap();
    let mut active = broker.consume(&queue, 4).await.unwrap();
    let mut standby = broker.consume(&queue, 4).await.unwrap();
    publish_numbers(&broker, &queue, 50).await;
    assert_eq!(drain(&mut active, 50).await.len(), 50, "all of them");
    publish(&broker, &queue, Message::Baton).await.unwrap();
    let baton = next(&mut active).await;
    assert!(standby.next().now_or_never().is_none(), "nothing is left for it");
    drop(active);
    let again = next(&mut standby).await;
    assert!(again.redelivered && matches!(*again.message, Message::Baton));
    drop(baton);
    publish_numbers(&broker, &queue, 1).await;
    assert_eq!(drain(&mut standby, 1).await, [0]);
    standby.ack(again.tag).await.unwrap();
    broker.delete(&queue).await.unwrap();
}

async fn a_full_queue_refuses_until_there_is_room(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, QueueKind::Work { messages_max: 2 }).await.unwrap();
    publish_numbers(&broker, &queue, 2).await;
    let refused = publish(&broker, &queue, numbered(2)).await;
    assert!(matches!(refused, Err(Error::Full { .. })));
    let waiting = async {
        for number in 2..6 {
            broker.send(&queue, numbered(number)).await.unwrap();
        }
    };
    let taking = async {
        let mut consumer = broker.consume(&queue, 1).await.unwrap();
        drain(&mut consumer, 6).await
    };
    let ((), taken) = soon(async { tokio::join!(waiting, taking) }).await;
    assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
    broker.delete(&queue).await.unwrap();
}

async fn results_have_a_quota(broker: Arc<dyn Broker>) {
    let queue = queues().result(QueryId(0));
    broker.declare(&queue, QueueKind::Result { bytes_max: 256 << 10 }).await.unwrap();
    let mut accepted = 0;
    let refusal = loop {
        match publish(&broker, &queue, heavy(accepted, 64 << 10)).await {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 10, "there is no end to it");
    };
    assert!(matches!(refusal, Error::OverQuota { .. }), "{refusal}");
    assert!(accepted >= 2, "{accepted}");
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    assert_eq!(drain(&mut consumer, accepted as usize).await.len(), accepted as usize);
    publish(&broker, &queue, numbered(0)).await.unwrap();
    broker.delete(&queue).await.unwrap();
}

async fn results_over_their_quota_wait_for_their_reader(broker: Arc<dyn Broker>) {
    const COUNT: u32 = 20;
    let queue = queues().result(QueryId(0));
    broker.declare(&queue, QueueKind::Result { bytes_max: 256 << 10 }).await.unwrap();
    let mut reader = broker.consume(&queue, 1).await.unwrap();
    let sent = AtomicU32::new(0);
    let sending = async {
        for number in 0..COUNT {
            broker.send(&queue, heavy(number, 64 << 10)).await.unwrap();
            sent.fetch_add(1, Ordering::Relaxed);
        }
    };
    let reading = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let before = sent.load(Ordering::Relaxed);
        assert!(before < COUNT / 2, "{before} were taken, and nothing was read");
        drain(&mut reader, COUNT as usize).await
    };
    let ((), read) = soon(async { tokio::join!(sending, reading) }).await;
    assert_eq!(read, (0..COUNT).collect::<Vec<_>>());
    broker.delete(&queue).await.unwrap();
}

async fn a_consumer_ends_with_its_queue(broker: Arc<dyn Broker>) {
    let queue = queues().shard(ShardId(3));
    broker.declare(&queue, SHARD).await.unwrap();
    let mut active = broker.consume(&queue, 1).await.unwrap();
    let mut standby = broker.consume(&queue, 1).await.unwrap();
    let deleted = async {
        broker.delete(&queue).await.unwrap();
    };
    let ends = async { tokio::join!(active.next(), standby.next(), deleted) };
    let (first, second, ()) = soon(ends).await;
    assert!(first.unwrap().is_none() && second.unwrap().is_none());
    assert!(soon(active.next()).await.unwrap().is_none(), "and stays at its end");
}

async fn whether_anybody_consumes_is_known(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    assert!(matches!(broker.has_consumer(&queue).await, Err(Error::NoQueue { .. })));
    broker.declare(&queue, WORK).await.unwrap();
    assert!(!broker.has_consumer(&queue).await.unwrap());
    let consumer = broker.consume(&queue, 1).await.unwrap();
    assert!(broker.has_consumer(&queue).await.unwrap());
    drop(consumer);
    let is_gone = async {
        while broker.has_consumer(&queue).await.unwrap() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    soon(is_gone).await;
}

async fn a_deleted_queue_takes_nothing_and_minds_no_acknowledgement(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, WORK).await.unwrap();
    publish_numbers(&broker, &queue, 2).await;
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    let delivery = next(&mut consumer).await;
    broker.delete(&queue).await.unwrap();
    broker.delete(&queue).await.unwrap();
    let published = publish(&broker, &queue, numbered(2)).await;
    assert!(matches!(published, Err(Error::NoQueue { .. })));
    soon(consumer.ack(delivery.tag)).await.unwrap();
    assert!(soon(consumer.next()).await.unwrap().is_none());
}

async fn events_reach_every_listener(broker: Arc<dyn Broker>) {
    let mut listeners = vec![broker.listen().await.unwrap(), broker.listen().await.unwrap()];
    let opened = SessionEvent::Opened(SessionId("a".into()));
    let closed = SessionEvent::Closed(SessionId(format!("{:x}", fastrand::u64(..))));
    soon(broker.announce(opened.clone())).await.unwrap();
    soon(broker.announce(closed.clone())).await.unwrap();
    for listener in &mut listeners {
        // Other tests have events of their own.
        while soon(listener.next()).await.unwrap() != opened {}
        while soon(listener.next()).await.unwrap() != closed {}
    }
}

async fn an_acknowledgement_counts_once(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, WORK).await.unwrap();
    publish_numbers(&broker, &queue, 2).await;
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    let delivery = next(&mut consumer).await;
    consumer.ack(delivery.tag).await.unwrap();
    let stale = |acked: Result<(), Error>| matches!(acked, Err(Error::Stale { .. }));
    assert!(stale(consumer.ack(delivery.tag).await));
    assert!(stale(consumer.ack(DeliveryTag(4711)).await));
    assert_eq!(drain(&mut consumer, 1).await, [1], "it goes on all the same");
    broker.delete(&queue).await.unwrap();
}

async fn a_consumer_holds_no_more_than_its_prefetch(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, WORK).await.unwrap();
    let mut modest = broker.consume(&queue, 2).await.unwrap();
    publish_numbers(&broker, &queue, 5).await;
    let held = [next(&mut modest).await, next(&mut modest).await];
    let mut other = broker.consume(&queue, 5).await.unwrap();
    assert_eq!(drain(&mut other, 3).await, [2, 3, 4]);
    assert_eq!(held.each_ref().map(number_of), [0, 1]);
    broker.delete(&queue).await.unwrap();
}

/// Confirms, refusals and returns of many messages cross each other on the way back.
async fn many_publishes_at_once_are_not_confused(broker: Arc<dyn Broker>) {
    let (there, full, missing) = (queues().map(), queues().map(), queues().map());
    broker.declare(&there, WORK).await.unwrap();
    broker.declare(&full, QueueKind::Work { messages_max: 1 }).await.unwrap();
    publish_numbers(&broker, &full, 1).await;
    let publishes = (0..600).map(|number| {
        let (broker, queue) = (&broker, [&there, &full, &missing][number as usize % 3]);
        async move { (number, publish(broker, queue, numbered(number)).await) }
    });
    let mut confirmed = vec![];
    for (number, published) in join_all(publishes).await {
        match (number % 3, published) {
            (0, Ok(())) => confirmed.push(number),
            (1, Err(Error::Full { .. })) | (2, Err(Error::NoQueue { .. })) => {}
            (_, other) => panic!("{number}: {other:?}"),
        }
    }
    assert_eq!(confirmed.len(), 200);
    let mut consumer = broker.consume(&there, 16).await.unwrap();
    assert_eq!(drain(&mut consumer, 200).await, confirmed);
    broker.delete(&there).await.unwrap();
    broker.delete(&full).await.unwrap();
}

async fn a_queue_declared_again_keeps_what_it_holds(broker: Arc<dyn Broker>) {
    let queue = queues().map();
    broker.declare(&queue, WORK).await.unwrap();
    publish_numbers(&broker, &queue, 1).await;
    broker.declare(&queue, WORK).await.unwrap();
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    assert_eq!(drain(&mut consumer, 1).await, [0]);
    broker.delete(&queue).await.unwrap();
}
