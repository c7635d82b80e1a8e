//! One queue of the memory broker, as a pure state machine: who gets which message next.

use std::collections::BTreeMap;
use std::sync::Arc;

use caudal_protocol::Message;

use crate::{Delivery, DeliveryTag, QueueKind};

/// A consumer of a queue, numbered in the order of subscription.
pub type ConsumerId = u64;

/// The connection of a consumer: those of one are lost together.
pub type ConnectionId = u64;

#[derive(Debug)]
pub struct Queue {
    pub kind: QueueKind,
    /// By the order they were published in. Redelivered ones come back to their old place.
    ready: BTreeMap<u64, Entry>,
    ready_bytes: usize,
    next_entry: u64,
    consumers: BTreeMap<ConsumerId, ConnectionId>,
    next_consumer: ConsumerId,
    unacked: BTreeMap<DeliveryTag, (ConsumerId, u64, Entry)>,
    next_tag: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    message: Arc<Message>,
    bytes: usize,
    redelivered: bool,
}

/// The reason why a message was not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    Full,
    OverQuota,
}

impl Queue {
    pub fn new(kind: QueueKind) -> Self {
        Self {
            kind,
            ready: BTreeMap::new(),
            ready_bytes: 0,
            next_entry: 0,
            consumers: BTreeMap::new(),
            next_consumer: 0,
            unacked: BTreeMap::new(),
            next_tag: 0,
        }
    }

    /// Only messages that wait count, as in RabbitMQ; deliveries under way are the prefetch's bound.
    pub fn has_capacity(&self) -> bool {
        match self.kind {
            QueueKind::Work { messages_max } | QueueKind::Shard { messages_max } => {
                self.ready.len() < messages_max
            }
            QueueKind::Result { .. } => true,
        }
    }

    pub fn publish(&mut self, message: Arc<Message>) -> Result<(), Refusal> {
        if !self.has_capacity() {
            return Err(Refusal::Full);
        }
        let bytes = message.size_bytes();
        // One alone is taken, however large: nobody could make room for it.
        if let QueueKind::Result { bytes_max } = self.kind
            && self.ready_bytes > 0
            && self.ready_bytes + bytes > bytes_max
        {
            return Err(Refusal::OverQuota);
        }
        self.ready.insert(self.next_entry, Entry { message, bytes, redelivered: false });
        self.ready_bytes += bytes;
        self.next_entry += 1;
        Ok(())
    }

    pub fn subscribe(&mut self, connection: ConnectionId) -> ConsumerId {
        let consumer = self.next_consumer;
        self.next_consumer += 1;
        self.consumers.insert(consumer, connection);
        consumer
    }

    pub fn is_subscribed(&self, consumer: ConsumerId) -> bool {
        self.consumers.contains_key(&consumer)
    }

    /// Takes those consumers for dead whose connection is one of these.
    pub fn unsubscribe_where(&mut self, is_lost: impl Fn(ConnectionId) -> bool) {
        for (consumer, connection) in self.consumers.clone() {
            if is_lost(connection) {
                self.unsubscribe(consumer);
            }
        }
    }

    /// Ends a subscription: what it had not acknowledged is ready again, marked as redelivered.
    pub fn unsubscribe(&mut self, consumer: ConsumerId) {
        self.consumers.remove(&consumer);
        let (theirs, others) = std::mem::take(&mut self.unacked)
            .into_iter()
            .partition(|(_, (owner, _, _))| *owner == consumer);
        self.unacked = others;
        let theirs: BTreeMap<DeliveryTag, (ConsumerId, u64, Entry)> = theirs;
        for (_, place, mut entry) in theirs.into_values() {
            entry.redelivered = true;
            self.ready_bytes += entry.bytes;
            self.ready.insert(place, entry);
        }
    }

    /// The next message for a consumer, unless it has to wait. `pick` chooses among the waiting.
    pub fn deliver(
        &mut self,
        consumer: ConsumerId,
        prefetch: usize,
        pick: impl FnOnce(usize) -> usize,
    ) -> Option<Delivery> {
        let standing_by = matches!(self.kind, QueueKind::Shard { .. })
            && self.consumers.keys().next() != Some(&consumer);
        if standing_by || self.ready.is_empty() || self.unacked_by(consumer) >= prefetch {
            return None;
        }
        let place = *self.ready.keys().nth(pick(self.ready.len()))?;
        let entry = self.ready.remove(&place)?;
        self.ready_bytes -= entry.bytes;
        let tag = DeliveryTag(self.next_tag);
        self.next_tag += 1;
        self.unacked.insert(tag, (consumer, place, entry.clone()));
        let Entry { message, redelivered, .. } = entry;
        Some(Delivery { tag, message, encoded: None, redelivered })
    }

    pub fn has_consumer(&self) -> bool {
        !self.consumers.is_empty()
    }

    /// Whether the delivery was this consumer's to acknowledge.
    pub fn ack(&mut self, consumer: ConsumerId, tag: DeliveryTag) -> bool {
        match self.unacked.get(&tag) {
            Some((owner, _, _)) if *owner == consumer => self.unacked.remove(&tag).is_some(),
            _ => false,
        }
    }

    fn unacked_by(&self, consumer: ConsumerId) -> usize {
        self.unacked.values().filter(|(owner, _, _)| *owner == consumer).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baton() -> Arc<Message> {
        Arc::new(Message::Baton)
    }

    fn first(_: usize) -> usize {
        0
    }

    #[test]
    fn a_full_queue_refuses_until_something_is_delivered() {
        let mut queue = Queue::new(QueueKind::Work { messages_max: 1 });
        let consumer = queue.subscribe(0);
        assert_eq!(queue.publish(baton()), Ok(()));
        assert_eq!(queue.publish(baton()), Err(Refusal::Full));
        assert!(queue.deliver(consumer, 1, first).is_some());
        assert_eq!(queue.publish(baton()), Ok(()));
        assert!(queue.deliver(consumer, 1, first).is_none(), "prefetch of one");
    }

    #[test]
    fn what_a_lost_consumer_had_comes_back_marked() {
        let mut queue = Queue::new(QueueKind::Work { messages_max: 8 });
        let (lost, other) = (queue.subscribe(0), queue.subscribe(0));
        queue.publish(baton()).unwrap();
        let delivery = queue.deliver(lost, 1, first).unwrap();
        assert!(!delivery.redelivered);
        queue.unsubscribe(lost);
        assert!(!queue.ack(lost, delivery.tag), "too late");
        let again = queue.deliver(other, 1, first).unwrap();
        assert!(again.redelivered);
        assert!(queue.ack(other, again.tag));
        assert!(queue.deliver(other, 1, first).is_none());
    }

    #[test]
    fn a_standby_gets_nothing_until_the_active_consumer_goes() {
        let mut queue = Queue::new(QueueKind::Shard { messages_max: 8 });
        let (active, standby) = (queue.subscribe(0), queue.subscribe(0));
        queue.publish(baton()).unwrap();
        assert!(queue.deliver(standby, 1, first).is_none());
        assert!(queue.deliver(active, 1, first).is_some());
        queue.unsubscribe(active);
        assert!(queue.deliver(standby, 1, first).is_some());
    }

    #[test]
    fn results_are_bounded_in_bytes_only() {
        let mut queue = Queue::new(QueueKind::Result { bytes_max: 0 });
        assert_eq!(queue.publish(baton()), Ok(()), "a baton weighs nothing");
    }
}
