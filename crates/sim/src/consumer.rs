//! A subscription as a node has it: lost with its connection, or because it has kept a delivery for too long.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use caudal_broker::{Consumer, Delivery, DeliveryTag, Error, Listener, SessionEvent};
use caudal_runtime::time::{Instant, now, sleep, sleep_until};

use crate::faults::Fault;
use crate::link::Link;
use crate::trace::Brief;
use crate::world::{HEARTBEAT, lock};

/// The broker's side of a subscription.
pub struct Channel {
    pub id: u64,
    pub queue: String,
    /// Deliveries that were not acknowledged, and since when.
    unacked: Mutex<BTreeMap<u64, Instant>>,
    has_delivered: AtomicBool,
}

impl Channel {
    fn oldest(&self) -> Option<Instant> {
        lock(&self.unacked).values().min().copied()
    }

    /// Whether this was the owner of a shard.
    pub fn is_owner(&self) -> bool {
        self.has_delivered.load(Ordering::Relaxed) && self.queue.contains(".shard.")
    }
}

pub struct SimConsumer {
    link: Arc<Link>,
    channel: Arc<Channel>,
    /// Times that the connection had been lost before.
    generation: u64,
    /// Calls to the store that had failed before.
    store_failures: u64,
    consumer: Option<Box<dyn Consumer>>,
}

impl SimConsumer {
    pub fn subscribe(link: Arc<Link>, queue: String, prefetch: usize) -> Result<Self, Error> {
        let id = link.world.new_connection();
        let consumer = Some(link.world.broker.consume_through(id, &queue, prefetch)?);
        let (unacked, has_delivered) = Default::default();
        let channel = Arc::new(Channel { id, queue, unacked, has_delivered });
        lock(&link.channels).insert(id, Arc::clone(&channel));
        watch_time(&link, &channel);
        let (generation, store_failures) = (link.lost.get(), link.store_failures());
        Ok(Self { link, channel, generation, store_failures, consumer })
    }
}

/// As RabbitMQ does: a delivery that is not acknowledged in time ends the channel, and comes again.
fn watch_time(link: &Arc<Link>, channel: &Arc<Channel>) {
    let Some(timeout) = link.world.bounds.consumer_timeout else { return };
    let world = Arc::clone(&link.world);
    let (link, channel) = (Arc::downgrade(link), Arc::downgrade(channel));
    Arc::clone(&world).scope.spawn(async move {
        loop {
            let Some(oldest) = channel.upgrade().map(|channel| channel.oldest()) else { return };
            sleep_until(oldest.unwrap_or_else(now) + timeout).await;
            let (Some(link), Some(channel)) = (link.upgrade(), channel.upgrade()) else { return };
            if !lock(&link.channels).contains_key(&channel.id) {
                return;
            }
            if channel.oldest().is_some_and(|oldest| oldest + timeout <= now()) {
                let (name, queue) = (&link.name, &channel.queue);
                world.say(name, format_args!("has kept a delivery of {queue} for too long"));
                world.count(Fault::ConsumerTimeout);
                link.lose_channel(&channel);
                return;
            }
        }
    });
}

#[async_trait]
impl Consumer for SimConsumer {
    async fn next(&mut self) -> Result<Option<Delivery>, Error> {
        let Some(consumer) = &mut self.consumer else { return Err(lost()) };
        tokio::select! {
            biased;
            _ = self.link.lost.above(self.generation) => Err(lost()),
            delivery = async {
                self.link.until_broker_reachable().await;
                consumer.next().await
            } => {
                if let Ok(Some(delivery)) = &delivery {
                    let (tag, brief) = (delivery.tag.0, Brief(&delivery.message));
                    let again = if delivery.redelivered { " again" } else { "" };
                    let (name, queue) = (&self.link.name, &self.channel.queue);
                    let what = format_args!("{queue} -> {tag}{again}: {brief}");
                    self.link.world.say(name, what);
                    lock(&self.channel.unacked).insert(tag, now());
                    self.channel.has_delivered.store(true, Ordering::Relaxed);
                }
                delivery
            }
        }
    }

    async fn ack(&self, tag: DeliveryTag) -> Result<(), Error> {
        let Some(consumer) = &self.consumer else { return Err(lost()) };
        if self.link.lost.get() > self.generation {
            return Err(lost());
        }
        if self.link.world.happens(Fault::AckLoss, 0.005) {
            self.link.lose_connection();
            return Ok(());
        }
        let (name, queue) = (&self.link.name, &self.channel.queue);
        self.link.world.say(name, format_args!("acks {} of {queue}", tag.0));
        lock(&self.channel.unacked).remove(&tag.0);
        consumer.ack(tag).await
    }
}

impl Drop for SimConsumer {
    /// Of a lost machine the broker hears nothing, and waits.
    fn drop(&mut self) {
        let Some(consumer) = self.consumer.take() else { return };
        let is_left = lock(&self.link.channels).remove(&self.channel.id).is_some();
        let is_trouble =
            !self.link.scope.is_alive() || self.link.store_failures() > self.store_failures;
        if is_left && is_trouble {
            self.link.world.count_lost(&self.channel);
        }
        if self.link.is_silent.load(Ordering::Relaxed) {
            self.link.world.scope.spawn(async move {
                sleep(HEARTBEAT).await;
                drop(consumer);
            });
        }
    }
}

pub struct SimListener {
    pub link: Arc<Link>,
    pub generation: u64,
    pub listener: Box<dyn Listener>,
}

#[async_trait]
impl Listener for SimListener {
    async fn next(&mut self) -> Result<SessionEvent, Error> {
        tokio::select! {
            biased;
            _ = self.link.lost.above(self.generation) => Err(lost()),
            event = self.listener.next() => event,
        }
    }
}

fn lost() -> Error {
    Error::Lost { reason: "as the simulation wants it".to_string() }
}
