//! Deliveries from one queue on a channel of their own.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use caudal_protocol::wire;
use futures::StreamExt;
use lapin::options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Acker, Channel};

use super::RabbitBroker;
use super::connections::Place;
use super::fault::Fault;
use crate::{Body, Consumer, Delivery, DeliveryTag, Error, RawDelivery};

pub struct Subscription {
    /// On its connection; none where it takes none of those that are counted.
    pub place: Option<Place>,
    channel: Channel,
    /// None after its end: lapin's stream hangs when it is polled again.
    deliveries: Option<lapin::Consumer>,
    broker: RabbitBroker,
}

impl Subscription {
    pub async fn open(
        broker: RabbitBroker,
        channel: Channel,
        queue: &str,
        prefetch: usize,
        options: BasicConsumeOptions,
    ) -> Result<Self, Fault> {
        let prefetch = u16::try_from(prefetch).unwrap_or(u16::MAX);
        channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
        let consuming =
            channel.basic_consume(queue.into(), "".into(), options, FieldTable::default());
        let deliveries = Some(consuming.await?);
        Ok(Self { place: None, channel, deliveries, broker })
    }

    /// None once the broker has ended the subscription.
    pub async fn next(&mut self) -> Option<Result<lapin::message::Delivery, lapin::Error>> {
        let next = self.deliveries.as_mut()?.next().await;
        if !matches!(next, Some(Ok(_))) {
            self.deliveries = None;
        }
        next
    }
}

impl Drop for Subscription {
    /// A closed channel gives back what was not acknowledged; a cancelled consumer would not.
    fn drop(&mut self) {
        let (channel, deliveries) = (self.channel.clone(), self.deliveries.take());
        let (broker, place) = (self.broker.clone(), self.place.take());
        self.broker.spawn(async move {
            // It may be closed already.
            let _ = channel.close(200, "done".into()).await;
            drop((deliveries, place, broker));
        });
    }
}

pub struct RabbitConsumer {
    pub queue: String,
    pub subscription: Subscription,
    unacked: Mutex<HashMap<u64, Acker>>,
}

impl RabbitConsumer {
    pub fn new(queue: String, subscription: Subscription) -> Self {
        Self { queue, subscription, unacked: Mutex::default() }
    }

    /// The next delivery's tag and body, and whether it may have been delivered before.
    async fn next_encoded(&mut self) -> Result<Option<(DeliveryTag, Bytes, bool)>, Error> {
        match self.subscription.next().await {
            Some(Ok(delivery)) => {
                let tag = delivery.delivery_tag;
                self.unacked().insert(tag, delivery.acker);
                Ok(Some((DeliveryTag(tag), delivery.data.into(), delivery.redelivered)))
            }
            Some(Err(error)) => Err(Error::Lost { reason: error.to_string() }),
            // A broker ends a subscription also when a node of its cluster goes.
            None => match self.subscription.broker.messages_waiting(&self.queue).await? {
                Some(_) => Err(Error::Lost { reason: "the broker ended the subscription".into() }),
                None => Ok(None),
            },
        }
    }

    fn unacked(&self) -> MutexGuard<'_, HashMap<u64, Acker>> {
        self.unacked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Consumer for RabbitConsumer {
    async fn next(&mut self) -> Result<Option<Delivery>, Error> {
        let Some((tag, encoded, redelivered)) = self.next_encoded().await? else { return Ok(None) };
        let message = wire::decode(encoded.clone()).map_err(|error| Error::Garbage {
            queue: self.queue.clone(),
            reason: error.to_string(),
        })?;
        let (message, encoded) = (message.into(), Some(encoded));
        Ok(Some(Delivery { tag, message, encoded, redelivered }))
    }

    async fn next_raw(&mut self) -> Result<Option<RawDelivery>, Error> {
        let next = self.next_encoded().await?;
        Ok(next.map(|(tag, encoded, _)| RawDelivery { tag, body: Body::Encoded(encoded) }))
    }

    async fn ack(&self, tag: DeliveryTag) -> Result<(), Error> {
        let stale = || Error::Stale { queue: self.queue.clone(), tag: tag.0 };
        let acker = self.unacked().remove(&tag.0).ok_or_else(stale)?;
        match acker.ack(BasicAckOptions::default()).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(stale()),
            Err(error) => Err(Error::Lost { reason: error.to_string() }),
        }
    }
}
