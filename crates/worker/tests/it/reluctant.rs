//! A broker that does not do all that it is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use caudal_broker::{Broker, Consumer, Error, Listener, MemoryBroker, QueueKind, SessionEvent};
use caudal_protocol::Message;

pub struct Reluctant {
    pub broker: Arc<MemoryBroker>,
    /// So many subscriptions are refused.
    pub refusals: AtomicU32,
    /// Queues whose names contain this take nothing.
    pub full: Option<&'static str>,
    /// How often one of them was full.
    pub refused: AtomicU32,
}

impl Reluctant {
    pub fn new(broker: &Arc<MemoryBroker>) -> Self {
        let (refusals, refused) = Default::default();
        Self { broker: Arc::clone(broker), refusals, full: None, refused }
    }

    fn is_full(&self, queue: &str) -> bool {
        self.full.is_some_and(|full| queue.contains(full))
    }
}

#[async_trait]
impl Broker for Reluctant {
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error> {
        self.broker.declare(queue, kind).await
    }

    async fn delete(&self, queue: &str) -> Result<(), Error> {
        self.broker.delete(queue).await
    }

    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error> {
        match self.is_full(queue) {
            true => {
                self.refused.fetch_add(1, Ordering::SeqCst);
                Err(Error::Full { queue: queue.to_string() })
            }
            false => self.broker.publish(queue, message).await,
        }
    }

    async fn wait_for_capacity(&self, queue: &str) {
        if self.is_full(queue) {
            std::future::pending::<()>().await;
        }
        self.broker.wait_for_capacity(queue).await;
    }

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error> {
        let one_less = |left: u32| left.checked_sub(1);
        if self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            return Err(Error::Refused { reason: "ACCESS_REFUSED".to_string() });
        }
        self.broker.consume(queue, prefetch).await
    }

    async fn has_consumer(&self, queue: &str) -> Result<bool, Error> {
        self.broker.has_consumer(queue).await
    }

    async fn announce(&self, event: SessionEvent) -> Result<(), Error> {
        self.broker.announce(event).await
    }

    async fn listen(&self) -> Result<Box<dyn Listener>, Error> {
        self.broker.listen().await
    }
}
