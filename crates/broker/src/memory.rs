//! A broker in this process: batches pass as they are, without being serialised.
//!
//! It can be told to misbehave within what a broker may do ([`Faults`]): tests prove with it that
//! answers do not depend on order or on how often something is delivered.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use caudal_core::limits;
use caudal_protocol::Message;
use tokio::sync::{Notify, broadcast};

pub use crate::queue::ConnectionId;
use crate::queue::{ConsumerId, Queue, Refusal};
use crate::{Broker, Consumer, Delivery, DeliveryTag, Error, Listener, QueueKind, SessionEvent};

pub struct MemoryBroker {
    queues: Mutex<BTreeMap<String, Arc<Shared>>>,
    events: broadcast::Sender<SessionEvent>,
    faults: Option<Mutex<(Faults, fastrand::Rng)>>,
    pub counts: Counts,
}

/// Counters of faults: a test has to see that they happened.
#[derive(Debug, Default)]
pub struct Counts {
    pub duplicated: AtomicU64,
    pub reordered: AtomicU64,
}

/// Faults that a broker may have, for those who rely on more than it promises.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Chance that a message is put into its queue twice.
    pub duplicate: f64,
    /// Deliver in any order instead of the one they were published in.
    pub reorder: bool,
}

struct Shared {
    name: String,
    /// None once the queue has been deleted.
    state: Mutex<Option<Queue>>,
    /// Something may be ready for a consumer.
    arrived: Notify,
    /// Something may be accepted from a publisher.
    left: Notify,
}

impl Default for MemoryBroker {
    fn default() -> Self {
        Self {
            queues: Mutex::default(),
            events: broadcast::Sender::new(limits::LISTENER_EVENTS_MAX),
            faults: None,
            counts: Counts::default(),
        }
    }
}

impl MemoryBroker {
    pub fn with_faults(faults: Faults, seed: u64) -> Self {
        let faults = Some(Mutex::new((faults, fastrand::Rng::with_seed(seed))));
        Self { faults, ..Self::default() }
    }

    /// Takes every consumer of a queue for dead, as after a lost connection: what they had comes again,
    /// and they find out when they ask for more.
    pub fn lose_consumers(&self, queue: &str) {
        let Ok(shared) = self.find(queue) else { return };
        if let Some(state) = lock(&shared.state).as_mut() {
            state.unsubscribe_where(|_| true);
        }
        shared.arrived.notify_waiters();
    }

    /// The same for the consumers of one connection, in all queues.
    pub fn lose_connection(&self, connection: ConnectionId) {
        let queues: Vec<_> = lock(&self.queues).values().cloned().collect();
        for shared in queues {
            if let Some(state) = lock(&shared.state).as_mut() {
                state.unsubscribe_where(|other| other == connection);
            }
            shared.arrived.notify_waiters();
        }
    }

    /// Subscribes through a connection, with which the consumer can be lost.
    pub fn consume_through(
        self: &Arc<Self>,
        connection: ConnectionId,
        queue: &str,
        prefetch: usize,
    ) -> Result<Box<dyn Consumer>, Error> {
        let shared = self.find(queue)?;
        let id = match lock(&shared.state).as_mut() {
            Some(state) => state.subscribe(connection),
            None => return Err(Error::NoQueue { queue: queue.to_string() }),
        };
        Ok(Box::new(MemoryConsumer { broker: Arc::clone(self), shared, id, prefetch }))
    }

    /// The queues there are, for tests that nothing is left behind.
    pub fn queue_names(&self) -> Vec<String> {
        lock(&self.queues).keys().cloned().collect()
    }

    fn find(&self, queue: &str) -> Result<Arc<Shared>, Error> {
        let found = lock(&self.queues).get(queue).cloned();
        found.ok_or_else(|| Error::NoQueue { queue: queue.to_string() })
    }

    fn copies(&self) -> usize {
        let Some(faults) = &self.faults else { return 1 };
        let (faults, rng) = &mut *lock(faults);
        if rng.f64() < faults.duplicate { 2 } else { 1 }
    }

    fn pick(&self) -> impl FnOnce(usize) -> usize + '_ {
        let number = self.faults.as_ref().and_then(|faults| {
            let (faults, rng) = &mut *lock(faults);
            faults.reorder.then(|| rng.usize(..))
        });
        move |waiting| {
            let place = number.map_or(0, |number| number % waiting.max(1));
            self.counts.reordered.fetch_add(u64::from(place > 0), Ordering::Relaxed);
            place
        }
    }
}

#[async_trait]
impl Broker for Arc<MemoryBroker> {
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error> {
        lock(&self.queues).entry(queue.to_string()).or_insert_with(|| {
            Arc::new(Shared {
                name: queue.to_string(),
                state: Mutex::new(Some(Queue::new(kind))),
                arrived: Notify::new(),
                left: Notify::new(),
            })
        });
        Ok(())
    }

    async fn delete(&self, queue: &str) -> Result<(), Error> {
        let Some(shared) = lock(&self.queues).remove(queue) else { return Ok(()) };
        *lock(&shared.state) = None;
        shared.arrived.notify_waiters();
        shared.left.notify_waiters();
        Ok(())
    }

    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error> {
        let shared = self.find(queue)?;
        for copy in 0..self.copies() {
            let published = match lock(&shared.state).as_mut() {
                Some(state) => state.publish(Arc::clone(&message)),
                None => return Err(Error::NoQueue { queue: queue.to_string() }),
            };
            match published {
                Ok(()) => {
                    self.counts.duplicated.fetch_add(copy as u64, Ordering::Relaxed);
                    shared.arrived.notify_waiters();
                }
                // The one that counts is in; a fault that finds no capacity does not happen.
                Err(_) if copy > 0 => {}
                Err(Refusal::Full) => return Err(Error::Full { queue: queue.to_string() }),
                Err(Refusal::OverQuota) => {
                    return Err(Error::OverQuota { queue: queue.to_string() });
                }
            }
        }
        Ok(())
    }

    async fn has_consumer(&self, queue: &str) -> Result<bool, Error> {
        let shared = self.find(queue)?;
        let state = lock(&shared.state);
        Ok(state.as_ref().is_some_and(Queue::has_consumer))
    }

    async fn wait_for_capacity(&self, queue: &str) {
        let Ok(shared) = self.find(queue) else { return };
        loop {
            let left = shared.left.notified();
            tokio::pin!(left);
            left.as_mut().enable();
            if lock(&shared.state).as_ref().is_none_or(Queue::has_capacity) {
                return;
            }
            left.await;
        }
    }

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error> {
        self.consume_through(0, queue, prefetch)
    }

    async fn announce(&self, event: SessionEvent) -> Result<(), Error> {
        // Nobody may be listening.
        let _ = self.events.send(event);
        Ok(())
    }

    async fn listen(&self) -> Result<Box<dyn Listener>, Error> {
        Ok(Box::new(self.events.subscribe()))
    }
}

#[async_trait]
impl Listener for broadcast::Receiver<SessionEvent> {
    async fn next(&mut self) -> Result<SessionEvent, Error> {
        self.recv().await.map_err(|error| Error::Lost { reason: error.to_string() })
    }
}

struct MemoryConsumer {
    broker: Arc<MemoryBroker>,
    shared: Arc<Shared>,
    id: ConsumerId,
    prefetch: usize,
}

#[async_trait]
impl Consumer for MemoryConsumer {
    async fn next(&mut self) -> Result<Option<Delivery>, Error> {
        loop {
            // Registered before the look, so that nothing that arrives in between is missed.
            let arrived = self.shared.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            {
                let mut state = lock(&self.shared.state);
                let Some(queue) = state.as_mut() else { return Ok(None) };
                if !queue.is_subscribed(self.id) {
                    return Err(Error::Lost { reason: "taken for dead".to_string() });
                }
                if let Some(delivery) = queue.deliver(self.id, self.prefetch, self.broker.pick()) {
                    self.shared.left.notify_waiters();
                    return Ok(Some(delivery));
                }
            }
            arrived.await;
        }
    }

    async fn ack(&self, tag: DeliveryTag) -> Result<(), Error> {
        let mut state = lock(&self.shared.state);
        let Some(state) = state.as_mut() else { return Ok(()) };
        if !state.ack(self.id, tag) {
            return Err(Error::Stale { queue: self.shared.name.clone(), tag: tag.0 });
        }
        self.shared.arrived.notify_waiters();
        Ok(())
    }
}

impl Drop for MemoryConsumer {
    fn drop(&mut self) {
        if let Some(queue) = lock(&self.shared.state).as_mut() {
            queue.unsubscribe(self.id);
        }
        self.shared.arrived.notify_waiters();
    }
}

/// A lock that a panicking holder has left is still a lock: every change under it is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
