//! The middleware: one abstraction for all communication between nodes.
//!
//! - *to one of a group*: a queue with several consumers ([`QueueKind::Work`]);
//! - *to the owner of a key*: a queue whose consumers stand by for each other
//!   ([`QueueKind::Shard`]);
//! - *to the client*: a queue that is never full ([`QueueKind::Result`]).
//!
//! [`memory`] is a broker in this process. It promises what RabbitMQ promises and nothing more:
//! a message is delivered at least once, in no order one may rely on; what a consumer had not
//! acknowledged when it went is delivered again.

pub mod memory;
mod queue;

use std::sync::Arc;

use async_trait::async_trait;
use caudal_core::{Code, Coded, Message};
use thiserror::Error;

pub use memory::{Faults, MemoryBroker};

#[async_trait]
pub trait Broker: Send + Sync + 'static {
    /// Makes a queue; one that is there already stays as it is.
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error>;

    /// Removes a queue and all that is in it. Its consumers end.
    async fn delete(&self, queue: &str) -> Result<(), Error>;

    /// Returns when the message is safe.
    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error>;

    /// Returns when a refused publish to this queue is worth another try.
    async fn room(&self, queue: &str);

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error>;

    /// Publishes, waiting for room as long as it takes: back-pressure.
    async fn send(&self, queue: &str, message: Message) -> Result<(), Error> {
        let message = Arc::new(message);
        loop {
            match self.publish(queue, Arc::clone(&message)).await {
                Err(Error::Full { .. }) => self.room(queue).await,
                done => return done,
            }
        }
    }
}

/// One subscription. Dropping it returns what was not acknowledged to the queue.
#[async_trait]
pub trait Consumer: Send + Sync {
    /// The next delivery; none once the queue is gone.
    async fn next(&mut self) -> Option<Delivery>;

    /// Says that the work of a delivery is safe.
    async fn ack(&self, delivery: DeliveryTag) -> Result<(), Error>;
}

#[derive(Clone, Debug)]
pub struct Delivery {
    pub tag: DeliveryTag,
    pub message: Arc<Message>,
    /// It may have been delivered before.
    pub redelivered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryTag(pub u64);

/// What a queue is for, hence how it behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// Consumers compete; publishers are refused when this many messages wait.
    Work { messages_max: usize },
    /// One consumer at a time, the others stand by; refuses like `Work`.
    Shard { messages_max: usize },
    /// Never full in messages; beyond this many bytes its session has failed.
    Result { bytes_max: usize },
}

#[derive(Debug, Error)]
pub enum Error {
    #[error("queue {queue} is full")]
    Full { queue: String },
    #[error("there is no queue {queue}")]
    NoQueue { queue: String },
    #[error("{queue} holds more than {bytes_max} bytes that nobody has read")]
    OverQuota { queue: String, bytes_max: usize },
    #[error("delivery {tag} of queue {queue} is not this consumer's any more")]
    Stale { queue: String, tag: u64 },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Full { .. } => "CDL-4001",
            Error::NoQueue { .. } => "CDL-4002",
            Error::OverQuota { .. } => "CDL-4003",
            Error::Stale { .. } => "CDL-4004",
        }
    }

    fn is_retryable(&self) -> bool {
        matches!(self, Error::Full { .. })
    }
}
