//! The broker as a node reaches it: over a connection that may break with what is on its way.
//!
//! It behaves as `caudal_broker::rabbitmq` does: a publish whose confirm was lost is sent again, until
//! the broker answers or has been away for too long; a consumer that was lost says so and is done.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use caudal_broker::{Broker, Consumer, Error, Listener, Outage, QueueKind, SessionEvent};
use caudal_core::limits;
use caudal_protocol::Message;
use caudal_runtime::task;
use caudal_runtime::time::{Instant, now, since, sleep};
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::consumer::{SimConsumer, SimListener};
use crate::faults::Fault;
use crate::link::Link;
use crate::trace::Brief;
use crate::world::lock;

#[derive(Clone)]
pub struct SimBroker(pub Arc<Link>);

impl SimBroker {
    /// Asks the broker until it answers.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn() -> BoxFuture<'static, T>,
    ) -> Result<T, Error> {
        let start = now();
        loop {
            self.0.until_broker_reachable().await;
            if self.0.is_broker_refused() {
                let reason = "it does not let this node in".to_string();
                return Err(Error::Refused { reason });
            }
            if let Some(answer) = self.exchange(&question).await {
                return Ok(answer);
            }
            pause_since(start, "it is lost").await?;
        }
    }

    /// A connection has so many channels, and each subscription needs one: who gets none tries again.
    async fn until_there_is_a_channel(&self) -> Result<(), Error> {
        let start = now();
        let world = &self.0.world;
        while let Some(most) = world.bounds.channels_max.filter(|_| !world.is_calm())
            && lock(&self.0.channels).len() >= most
        {
            if now() == start {
                world.count(Fault::ChannelLimit);
            }
            pause_since(start, "it has no channel left").await?;
        }
        Ok(())
    }

    /// There and back. None where the connection is lost meanwhile: what was asked for is done or not.
    async fn exchange<T: Send + 'static>(
        &self,
        question: &impl Fn() -> BoxFuture<'static, T>,
    ) -> Option<T> {
        let link = Arc::clone(&self.0);
        let connection = link.connection();
        let question = question();
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

/// Before the broker is asked again, unless it has been in vain for too long.
async fn pause_since(start: Instant, reason: &str) -> Result<(), Error> {
    let seconds = since(start).as_secs();
    if seconds > limits::BROKER_AWAY_SECONDS_MAX {
        let (address, reason) = ("the simulation".to_string(), reason.to_string());
        return Err(Error::Away { address, seconds, reason });
    }
    sleep(Duration::from_millis(fastrand::u64(10..500))).await;
    Ok(())
}

#[async_trait]
impl Broker for SimBroker {
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error> {
        let (link, queue) = (Arc::clone(&self.0), queue.to_string());
        let declared = self.ask(move || {
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
        let deleted = self.ask(move || {
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
            let published = broker.ask(move || {
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
        let looked = self.ask(move || {
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
        self.until_there_is_a_channel().await?;
        let (link, queue) = (Arc::clone(&self.0), queue.to_string());
        let subscribed = self.ask(move || {
            let (link, queue) = (Arc::clone(&link), queue.clone());
            Box::pin(async move {
                link.world.say(&link.name, format_args!("subscribes to {queue}"));
                SimConsumer::subscribe(link, queue, prefetch)
            })
        });
        Ok(Box::new(subscribed.await??))
    }

    async fn announce(&self, event: SessionEvent) -> Result<(), Error> {
        let link = Arc::clone(&self.0);
        let announced = self.ask(move || {
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
        let listening = self.ask(move || {
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
        let is_out = self.0.is_broker_cut() || self.0.is_broker_refused();
        is_out.then_some(Outage::Unreachable)
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
