//! The middleware: one abstraction for all communication between nodes.
//!
//! - *to one of a group*: a queue with several consumers ([`QueueKind::Work`]);
//! - *to the owner of a key*: a queue whose consumers stand by for each other
//!   ([`QueueKind::Shard`]);
//! - *to the client*: a queue that holds so many bytes ([`QueueKind::Result`]);
//! - *to all*: [`SessionEvent`], a hint that those who were not listening have to be able to do without.
//!
//! [`rabbitmq`] is the broker of a cluster; [`memory`] is one in this process. The latter promises
//! what RabbitMQ promises and nothing more: a message is delivered at least once, in no order one
//! may rely on; what a consumer had not acknowledged when it went is delivered again.

pub mod memory;
mod queue;
pub mod rabbitmq;
mod unread;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::{Code, Coded, SessionId, codes};
use caudal_protocol::{Message, wire};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use memory::{Faults, MemoryBroker};
pub use rabbitmq::RabbitBroker;
use unread::Unread;

#[async_trait]
pub trait Broker: Send + Sync + 'static {
    /// Makes a queue; one that is there already stays as it is.
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error>;

    /// Removes a queue and all that is in it. Its consumers end.
    async fn delete(&self, queue: &str) -> Result<(), Error>;

    /// Returns when the message is safe.
    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error>;

    /// Returns when a refused publish to this queue is worth another try.
    async fn wait_for_capacity(&self, queue: &str);

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error>;

    /// Whether anybody consumes from a queue.
    async fn has_consumer(&self, queue: &str) -> Result<bool, Error>;

    /// Sends an event to all who are listening now.
    async fn announce(&self, event: SessionEvent) -> Result<(), Error>;

    /// The events that are announced from here on.
    async fn listen(&self) -> Result<Box<dyn Listener>, Error>;

    /// The reason why publishers have to wait at present, if they do.
    fn outage(&self) -> Option<Outage> {
        None
    }

    /// Publishes a message that has been encoded already.
    async fn publish_encoded(&self, queue: &str, body: Bytes) -> Result<(), Error> {
        let message = wire::decode(body).map_err(|error| Error::Garbage {
            queue: queue.to_string(),
            reason: error.to_string(),
        })?;
        self.publish(queue, Arc::new(message)).await
    }

    /// Publishes a message that has been encoded already, waiting for capacity.
    async fn send_encoded(&self, queue: &str, body: Bytes) -> Result<(), Error> {
        with_backpressure(self, || self.publish_encoded(queue, body.clone()), || ()).await
    }

    /// Publishes, waiting for capacity as long as it takes: back-pressure.
    async fn send(&self, queue: &str, message: Message) -> Result<(), Error> {
        let message = Arc::new(message);
        with_backpressure(self, || self.publish(queue, Arc::clone(&message)), || ()).await
    }
}

/// Publishes as soon as its queue has capacity: back-pressure. Whoever counts those who wait has `waiting` make
/// something that lives as long as a wait does.
pub async fn with_backpressure<P, W>(
    broker: &(impl Broker + ?Sized),
    publish: impl Fn() -> P + Send,
    waiting: impl Fn() -> W + Send,
) -> Result<(), Error>
where
    P: Future<Output = Result<(), Error>> + Send,
    W: Send,
{
    let mut unread = Unread::default();
    loop {
        match publish().await {
            Err(Error::Full { queue }) => {
                let _waiting = waiting();
                broker.wait_for_capacity(&queue).await;
            }
            Err(Error::OverQuota { queue }) if unread.wait(broker, &queue).await => {}
            done => return done,
        }
    }
}

/// One subscription. Dropping it returns what was not acknowledged to the queue.
#[async_trait]
pub trait Consumer: Send + Sync {
    /// The next delivery; none once the queue is gone. After an error nothing more comes: what was
    /// not acknowledged belongs to somebody else, and to go on is to subscribe anew. A call that
    /// is dropped before it is done has taken nothing.
    async fn next(&mut self) -> Result<Option<Delivery>, Error>;

    /// The next delivery as it came, for who passes it on: nobody has looked at its rows.
    async fn next_raw(&mut self) -> Result<Option<RawDelivery>, Error> {
        let raw = |delivery: Delivery| RawDelivery {
            tag: delivery.tag,
            body: Body::Message(delivery.message),
        };
        Ok(self.next().await?.map(raw))
    }

    /// Says that the work of a delivery is safe. In a queue that is gone there is nothing to say it
    /// of, which is no error.
    async fn ack(&self, delivery: DeliveryTag) -> Result<(), Error>;
}

/// A subscription to events.
#[async_trait]
pub trait Listener: Send {
    /// The next event. After an error some may have been missed.
    async fn next(&mut self) -> Result<SessionEvent, Error>;
}

/// An event of a session, for all nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEvent {
    Opened(SessionId),
    Closed(SessionId),
    /// Long computation of a worker that keeps the answer waiting.
    Working(LongWork),
}

/// A computation that takes a worker long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWork {
    pub session: SessionId,
    pub worker: String,
    /// In words.
    pub what: String,
    /// So far.
    pub seconds: u64,
}

/// A condition that keeps publishers waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// No connection to the broker.
    Unreachable,
    /// The broker takes nothing: it is short of memory or disk.
    Blocked,
}

#[derive(Clone, Debug)]
pub struct Delivery {
    pub tag: DeliveryTag,
    pub message: Arc<Message>,
    /// The message as it came, where it came as bytes.
    pub encoded: Option<Bytes>,
    /// It may have been delivered before.
    pub redelivered: bool,
}

/// A delivery as it came.
#[derive(Clone, Debug)]
pub struct RawDelivery {
    pub tag: DeliveryTag,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub enum Body {
    /// It never was bytes.
    Message(Arc<Message>),
    /// An encoded message, or garbage.
    Encoded(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryTag(pub u64);

/// The kind of a queue, hence how it behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// Consumers compete; publishers are refused when this many messages wait.
    Work { messages_max: usize },
    /// One consumer at a time, the others stand by; refuses like `Work`.
    Shard { messages_max: usize },
    /// Never full in messages; beyond this many bytes publishers wait for its reader, or have failed.
    Result { bytes_max: usize },
}

#[derive(Debug, Error)]
pub enum Error {
    #[error("queue {queue} is full")]
    Full { queue: String },
    #[error("there is no queue {queue}")]
    NoQueue { queue: String },
    #[error("{queue} holds all the bytes it may, and nobody reads them")]
    OverQuota { queue: String },
    #[error("delivery {tag} of queue {queue} is not this consumer's any more")]
    Stale { queue: String, tag: u64 },
    #[error("lost the connection to the broker: {reason}")]
    Lost { reason: String },
    #[error("no broker at {address} for {seconds} s: {reason}")]
    Away { address: String, seconds: u64, reason: String },
    #[error("the broker refuses: {reason}")]
    Refused { reason: String },
    #[error(
        "no channel is left on {connections} connections to the broker, of {channels_max} each"
    )]
    NoChannel { connections: usize, channels_max: usize },
    #[error("{name} is running already")]
    NameTaken { name: String },
    #[error("queue {queue} holds something that is not a message: {reason}")]
    Garbage { queue: String, reason: String },
    #[error("a message of {bytes} bytes for queue {queue}; {bytes_max} are the most")]
    TooLarge { queue: String, bytes: usize, bytes_max: usize },
    #[error("a message for queue {queue} cannot be encoded: {reason}")]
    Unencodable { queue: String, reason: String },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Full { .. } => codes::QUEUE_FULL,
            Error::NoQueue { .. } => codes::NO_QUEUE,
            Error::OverQuota { .. } => codes::RESULTS_OVER_QUOTA,
            Error::Stale { .. } => codes::STALE_DELIVERY,
            Error::Lost { .. } => codes::BROKER_LOST,
            Error::Away { .. } => codes::NO_BROKER,
            Error::Refused { .. } => codes::BROKER_REFUSES,
            Error::NoChannel { .. } => codes::NO_CHANNEL,
            Error::NameTaken { .. } => codes::NODE_RUNNING,
            Error::Garbage { .. } => codes::NOT_A_MESSAGE,
            Error::TooLarge { .. } => codes::MESSAGE_TOO_LARGE,
            Error::Unencodable { .. } => codes::MESSAGE_UNENCODABLE,
        }
    }
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::NoChannel { .. } => {
                "end some sessions, run them with fewer --shards, or raise channel_max of RabbitMQ"
            }
            _ => return None,
        };
        Some(hint.to_string())
    }
}
