//! Brokers, messages and waits of the tests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use caudal_broker::rabbitmq::Settings;
use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_broker::{Broker, Consumer, Delivery, MemoryBroker, RabbitBroker};
use caudal_core::{SessionId, Source, TableId};
use caudal_protocol::{Message, Queues, TableFragment};
use tokio::sync::{Mutex, MutexGuard, OnceCell};

pub fn memory() -> Arc<dyn Broker> {
    Arc::new(Arc::new(MemoryBroker::default()))
}

/// A connection to the RabbitMQ that the tests share; those that disturb it start their own.
pub async fn rabbit() -> Arc<dyn Broker> {
    Arc::new(connect(shared_rabbit().await).await)
}

pub async fn connect(rabbit: &PrivateRabbit) -> RabbitBroker {
    RabbitBroker::connect(Settings::new(rabbit.url())).await.unwrap()
}

pub async fn shared_rabbit() -> &'static PrivateRabbit {
    static SHARED: OnceCell<PrivateRabbit> = OnceCell::const_new();
    SHARED.get_or_init(|| own_rabbit("shared")).await
}

/// One that tests may disturb, one after the other.
pub async fn disturbed_rabbit() -> MutexGuard<'static, PrivateRabbit> {
    static DISTURBED: OnceCell<Mutex<PrivateRabbit>> = OnceCell::const_new();
    let rabbit = DISTURBED.get_or_init(|| async { Mutex::new(own_rabbit("disturbed").await) });
    rabbit.await.lock().await
}

/// A RabbitMQ for one test. It ends with this process at the latest.
pub async fn own_rabbit(name: &str) -> PrivateRabbit {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rabbit-{name}"));
    // Of an earlier run; the first run has none.
    let _ = std::fs::remove_dir_all(&directory);
    PrivateRabbit::start(&directory).await.unwrap_or_else(|error| panic!("{error}"))
}

/// The names of a session's queues that no other test uses.
pub fn queues() -> Queues {
    Queues { session: SessionId(format!("test-{:016x}", fastrand::u64(..))) }
}

/// A small message that can be told from others.
pub fn numbered(number: u32) -> Message {
    Message::End { source: Source::Table(TableId(0)), count: number }
}

pub fn number_of(delivery: &Delivery) -> u32 {
    match *delivery.message {
        Message::End { count, .. } => count,
        Message::Table(TableFragment { number, .. }) => number,
        ref other => panic!("not one of ours: {other:?}"),
    }
}

/// A message whose rows do not compress.
pub fn heavy(number: u32, bytes: usize) -> Message {
    let mut random = fastrand::Rng::with_seed(u64::from(number));
    let values: ArrayRef =
        Arc::new(UInt64Array::from_iter_values((0..bytes / 8).map(|_| random.u64(..))));
    let batch = RecordBatch::try_from_iter([("noise", values)]).unwrap();
    Message::Table(TableFragment::new(TableId(0), number, batch))
}

/// Fails a test that would wait for ever.
pub async fn soon<T>(waiting: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("a minute was not enough")
}

/// The next delivery of a queue that is there.
pub async fn next(consumer: &mut Box<dyn Consumer>) -> Delivery {
    soon(consumer.next()).await.unwrap().expect("the queue is there")
}

/// Takes and acknowledges so many; their numbers, in order.
pub async fn drain(consumer: &mut Box<dyn Consumer>, count: usize) -> Vec<u32> {
    let mut numbers = vec![];
    for _ in 0..count {
        let delivery = next(consumer).await;
        consumer.ack(delivery.tag).await.unwrap();
        numbers.push(number_of(&delivery));
    }
    numbers.sort_unstable();
    numbers
}
