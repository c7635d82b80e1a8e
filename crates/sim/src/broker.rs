//! The broker as a node reaches it: over a connection that may break with what is on its way.
//!
//! It behaves as `caudal_broker::rabbitmq` does: a publish whose confirm was lost is sent again, until
//! the broker answers or has been away for too long; a consumer that was lost says so and is done.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use caudal_broker::{
    Broker, Consumer, Delivery, DeliveryTag, Error, Listener, Outage, QueueKind, SessionEvent,
};
use caudal_core::limits;
use caudal_protocol::Message;
use caudal_runtime::task;
use caudal_runtime::time::{now, since, sleep};
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::faults::Fault;
use crate::trace::Brief;
use crate::world::{HEARTBEAT, Link, lock};

#[derive(Clone)]
pub struct SimBroker(pub Arc<Link>);

impl SimBroker {
    /// Asks the broker until it answers.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(u64) -> BoxFuture<'static, T>,
    ) -> Result<T, Error> {
        let start = now();
        loop {
            self.0.until_broker_reachable().await;
            if let Some(answer) = self.exchange(&question).await {
                return Ok(answer);
            }
            let seconds = since(start).as_secs();
            if seconds > limits::BROKER_AWAY_SECONDS_MAX {
                let (address, reason) = ("the simulation".to_string(), "it is lost".to_string());
                return Err(Error::Away { address, seconds, reason });
            }
            sleep(Duration::from_millis(fastrand::u64(10..500))).await;
        }
    }

    /// There and back. None where the connection is lost meanwhile: what was asked for is done or not.
    async fn exchange<T: Send + 'static>(
        &self,
        question: &impl Fn(u64) -> BoxFuture<'static, T>,
    ) -> Option<T> {
        let link = Arc::clone(&self.0);
        let connection = link.connection();
        let question = question(connection);
        let (sender, receiver) = oneshot::channel();
        // What has left a node arrives, whatever becomes of the node.
        self.0.world.scope.spawn(async move {
            link.world.travel().await;
            if link.connection() != connection {
                return;
            }
            let answer = question.await;
            link.world.travel().await;
            if link.connection() == connection {
                let _ = sender.send(answer);
            }
        });
        receiver.await.ok()
    }
}

#[async_trait]
impl Broker for SimBroker {
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error> {
        let (link, queue) = (Arc::clone(&self.0), queue.to_string());
        let declared = self.ask(move |_| {
            let (link, queue) = (Arc::clone(&link), queue.clone());
            Box::pin(async move {
                link.world.say(&link.name, format_args!("declares {queue}"));
                look_at_declare(&link, &queue);
                link.world.broker.declare(&queue, kind).await
            })
        });
        declared.await?
    }

    async fn delete(&self, queue: &str) -> Result<(), Error> {
        let (link, queue) = (Arc::clone(&self.0), queue.to_string());
        let deleted = self.ask(move |_| {
            let (link, queue) = (Arc::clone(&link), queue.clone());
            Box::pin(async move {
                link.world.say(&link.name, format_args!("deletes {queue}"));
                link.world.broker.delete(&queue).await
            })
        });
        deleted.await?
    }

    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error> {
        let (broker, queue) = (self.clone(), queue.to_string());
        // As over the network: a publish is finished also when nobody waits for it any more.
        let publishing = task::spawn(async move {
            let link = Arc::clone(&broker.0);
            let published = broker.ask(move |_| {
                let (link, queue) = (Arc::clone(&link), queue.clone());
                let message = Arc::clone(&message);
                Box::pin(async move {
                    let is_result = caudal_protocol::Queues::is_result(&queue);
                    if !is_result && link.world.happens(Fault::Refuse, 0.05) {
                        return Err(Error::Full { queue });
                    }
                    let published = link.world.broker.publish(&queue, Arc::clone(&message)).await;
                    let (name, brief) = (&link.name, Brief(&message));
                    match &published {
                        Ok(()) => link.world.say(name, format_args!("{queue} <- {brief}")),
                        Err(error) => link.world.say(name, format_args!("{brief}: {error}")),
                    }
                    published
                })
            });
            published.await?
        });
        match publishing.await {
            Ok(published) => published,
            // The node is gone, and its task that waited here with it.
            Err(_) => std::future::pending().await,
        }
    }

    async fn has_consumer(&self, queue: &str) -> Result<bool, Error> {
        let (link, queue) = (Arc::clone(&self.0), queue.to_string());
        let looked = self.ask(move |_| {
            let (link, queue) = (Arc::clone(&link), queue.clone());
            Box::pin(async move { link.world.broker.has_consumer(&queue).await })
        });
        looked.await?
    }

    async fn wait_for_capacity(&self, queue: &str) {
        self.0.world.travel().await;
        self.0.world.broker.wait_for_capacity(queue).await;
    }

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error> {
        let (link, queue) = (Arc::clone(&self.0), queue.to_string());
        let subscribed = self.ask(move |connection| {
            let (link, queue) = (Arc::clone(&link), queue.clone());
            Box::pin(async move {
                link.world.say(&link.name, format_args!("subscribes to {queue}"));
                let consumer = link.world.broker.consume_through(connection, &queue, prefetch)?;
                let generation = link.lost.get();
                Ok(SimConsumer { link, queue, generation, consumer: Some(consumer) })
            })
        });
        Ok(Box::new(subscribed.await??))
    }

    async fn announce(&self, event: SessionEvent) -> Result<(), Error> {
        let link = Arc::clone(&self.0);
        let announced = self.ask(move |_| {
            let (link, event) = (Arc::clone(&link), event.clone());
            Box::pin(async move {
                if link.world.happens(Fault::MissedEvent, 0.5) {
                    return Ok(());
                }
                link.world.broker.announce(event).await
            })
        });
        announced.await?
    }

    async fn listen(&self) -> Result<Box<dyn Listener>, Error> {
        let link = Arc::clone(&self.0);
        let listening = self.ask(move |_| {
            let link = Arc::clone(&link);
            Box::pin(async move {
                let listener = link.world.broker.listen().await?;
                let generation = link.lost.get();
                Ok::<_, Error>(SimListener { link, generation, listener })
            })
        });
        Ok(Box::new(listening.await??))
    }

    fn outage(&self) -> Option<Outage> {
        self.0.is_broker_cut().then_some(Outage::Unreachable)
    }
}

/// Only gateways make queues. One that was asleep when the session ended may do so too late: then they
/// go with the tombstone.
fn look_at_declare(link: &Link, queue: &str) {
    if !link.name.starts_with("gateway") {
        lock(&link.world.violations).push(format!("{} declares {queue}", link.name));
    }
    let session = queue.split('.').nth(1).unwrap_or_default();
    if lock(&link.world.objects).contains_key(&format!("closed/{session}")) {
        lock(&link.world.brought_back).insert(session.to_string());
    }
}

fn lost() -> Error {
    Error::Lost { reason: "as the simulation wants it".to_string() }
}

struct SimConsumer {
    link: Arc<Link>,
    queue: String,
    /// Times that the connection had been lost before.
    generation: u64,
    consumer: Option<Box<dyn Consumer>>,
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
                    let (name, queue) = (&self.link.name, &self.queue);
                    let what = format_args!("{queue} -> {tag}{again}: {brief}");
                    self.link.world.say(name, what);
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
        self.link.world.say(&self.link.name, format_args!("acks {} of {}", tag.0, self.queue));
        consumer.ack(tag).await
    }
}

impl Drop for SimConsumer {
    /// Of a lost machine the broker hears nothing, and waits.
    fn drop(&mut self) {
        let Some(consumer) = self.consumer.take() else { return };
        if self.link.is_silent.load(Ordering::Relaxed) {
            self.link.world.scope.spawn(async move {
                sleep(HEARTBEAT).await;
                drop(consumer);
            });
        }
    }
}

struct SimListener {
    link: Arc<Link>,
    generation: u64,
    listener: Box<dyn Listener>,
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
