//! Behaviour when RabbitMQ breaks, is killed, or is short of memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use caudal_broker::{Broker, Error, Outage, QueueKind, RabbitBroker, SessionEvent};
use caudal_core::SessionId;
use caudal_testing::until;
use futures::FutureExt;
use tokio::task::JoinHandle;

use crate::support::{
    connect, disturbed_rabbit, drain, heavy, next, number_of, numbered, queues, soon,
};

const WORK: QueueKind = QueueKind::Work { messages_max: 100_000 };

#[tokio::test]
async fn a_forced_close_is_survived() {
    let rabbit = disturbed_rabbit().await;
    let (broker, queue) = (connect(&rabbit).await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    broker.send(&queue, numbered(0)).await.unwrap();
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    let mut listener = broker.listen().await.unwrap();
    let held = next(&mut consumer).await;

    let upload = queues().map();
    broker.declare(&upload, WORK).await.unwrap();
    let publishers = Publishers::start(&broker, &upload);
    rabbit.control(&["close_all_connections", "a test"]).await.unwrap();

    let lost = soon(consumer.next()).await.map(drop);
    assert!(matches!(lost, Err(Error::Lost { .. })), "{lost:?}");
    assert!(consumer.ack(held.tag).await.is_err(), "it belongs to somebody else");
    let lost = soon(listener.next()).await.map(drop);
    assert!(matches!(lost, Err(Error::Lost { .. })), "{lost:?}");

    let confirmed_before = publishers.confirmed();
    until("publishing goes on", async || publishers.confirmed() > confirmed_before + 100).await;
    let published = publishers.finish().await;
    take_all(&broker, &upload, published).await;
    let mut consumer = soon(broker.consume(&queue, 1)).await.unwrap();
    assert!(next(&mut consumer).await.redelivered);
    let mut listener = soon(broker.listen()).await.unwrap();
    let event = SessionEvent::Opened(SessionId("after".into()));
    soon(broker.announce(event.clone())).await.unwrap();
    assert_eq!(soon(listener.next()).await.unwrap(), event);
}

#[tokio::test]
async fn a_killed_broker_loses_nothing_that_was_confirmed() {
    let mut rabbit = disturbed_rabbit().await;
    let (broker, queue) = (connect(&rabbit).await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    // RabbitMQ has said that the queue is there before it is on disk: killed within that moment, it forgets it (docs/gaps).
    tokio::time::sleep(Duration::from_secs(3)).await;
    let publishers = Publishers::start(&broker, &queue);
    until("publishes are confirmed", async || publishers.confirmed() >= 200).await;

    rabbit.kill().await;
    until("the loss is noticed", async || broker.outage() == Some(Outage::Unreachable)).await;
    let in_flight = publishers.in_flight();
    assert!(in_flight > 0, "the kill hit publishes that were under way");
    let confirmed_before = publishers.confirmed();
    rabbit.launch().await.unwrap();

    until("those are sent again", async || publishers.confirmed() > confirmed_before + 200).await;
    assert_eq!(broker.outage(), None);
    let published = publishers.finish().await;
    let twice = take_all(&broker, &queue, published).await;
    println!(
        "{confirmed_before} confirmed before the kill, {in_flight} sent again, {published} in all, \
         {twice} delivered twice"
    );
}

#[tokio::test]
async fn a_blocked_publisher_still_acknowledges_and_goes_on_later() {
    let rabbit = disturbed_rabbit().await;
    let (broker, queue) = (connect(&rabbit).await, queues().map());
    broker.declare(&queue, WORK).await.unwrap();
    broker.send(&queue, numbered(0)).await.unwrap();
    broker.send(&queue, numbered(1)).await.unwrap();
    let mut consumer = broker.consume(&queue, 1).await.unwrap();
    let held = next(&mut consumer).await;
    assert_eq!(broker.outage(), None);

    rabbit.control(&["set_vm_memory_high_watermark", "0.00001"]).await.unwrap();
    let mut blocked = broker.send(&queue, numbered(2)).boxed();
    assert!((&mut blocked).now_or_never().is_none());
    until("the publisher is blocked", async || broker.outage() == Some(Outage::Blocked)).await;

    soon(consumer.ack(held.tag)).await.unwrap();
    let second = next(&mut consumer).await;
    assert_eq!(number_of(&second), 1, "an acknowledgement frees capacity for the next delivery");
    soon(broker.declare(&queues().map(), WORK)).await.unwrap();
    assert!((&mut blocked).now_or_never().is_none(), "and the publisher still waits");

    rabbit.control(&["set_vm_memory_high_watermark", "0.4"]).await.unwrap();
    soon(blocked).await.unwrap();
    assert_eq!(broker.outage(), None);
    consumer.ack(second.tag).await.unwrap();
    assert_eq!(drain(&mut consumer, 1).await, [2]);
}

/// Tasks that publish numbered messages until they are told to stop.
struct Publishers {
    tasks: Vec<JoinHandle<()>>,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Progress {
    started: AtomicU32,
    confirmed: AtomicU32,
    stopping: AtomicBool,
}

impl Publishers {
    const TASKS: usize = 16;

    fn start(broker: &RabbitBroker, queue: &str) -> Self {
        let progress = Arc::new(Progress::default());
        let task = |_| {
            let (broker, queue, progress) =
                (broker.clone(), queue.to_string(), Arc::clone(&progress));
            tokio::spawn(async move {
                while !progress.stopping.load(SeqCst) {
                    let number = progress.started.fetch_add(1, SeqCst);
                    broker.send(&queue, heavy(number, 16 << 10)).await.unwrap();
                    progress.confirmed.fetch_add(1, SeqCst);
                }
            })
        };
        Self { tasks: (0..Self::TASKS).map(task).collect(), progress }
    }

    fn confirmed(&self) -> u32 {
        self.progress.confirmed.load(SeqCst)
    }

    fn in_flight(&self) -> u32 {
        let confirmed = self.confirmed();
        self.progress.started.load(SeqCst) - confirmed
    }

    /// Number of messages that were published, all confirmed.
    async fn finish(self) -> u32 {
        self.progress.stopping.store(true, SeqCst);
        for task in self.tasks {
            soon(task).await.unwrap();
        }
        assert_eq!(self.progress.started.load(SeqCst), self.progress.confirmed.load(SeqCst));
        self.progress.confirmed.load(SeqCst)
    }
}

/// Takes from a queue until every number below `count` was there; how many came more than once.
async fn take_all(broker: &RabbitBroker, queue: &str, count: u32) -> usize {
    let mut consumer = soon(broker.consume(queue, 64)).await.unwrap();
    let (mut seen, mut deliveries) = (BTreeSet::new(), 0);
    while seen.len() < count as usize {
        let delivery = next(&mut consumer).await;
        consumer.ack(delivery.tag).await.unwrap();
        assert!(number_of(&delivery) < count);
        seen.insert(number_of(&delivery));
        deliveries += 1;
    }
    deliveries - seen.len()
}
