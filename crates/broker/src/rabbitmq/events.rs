//! Events as small JSON through a fanout exchange: each listener has a queue that goes with it.

use async_trait::async_trait;
use caudal_core::limits;
use lapin::options::{
    BasicConsumeOptions, ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::{Channel, ExchangeKind};

use super::RabbitBroker;
use super::fault::Fault;
use super::subscription::Subscription;
use crate::{Error, Listener, SessionEvent};

pub const EXCHANGE: &str = "caudal.news";

pub async fn declare_exchange(channel: &Channel) -> Result<(), Fault> {
    let durable = ExchangeDeclareOptions { durable: true, ..Default::default() };
    let declaring = channel.exchange_declare(
        EXCHANGE.into(),
        ExchangeKind::Fanout,
        durable,
        FieldTable::default(),
    );
    Ok(declaring.await?)
}

pub async fn listen(broker: RabbitBroker, channel: Channel) -> Result<RabbitListener, Fault> {
    declare_exchange(&channel).await?;
    let own = QueueDeclareOptions { exclusive: true, auto_delete: true, ..Default::default() };
    let queue = channel.queue_declare("".into(), own, FieldTable::default()).await?;
    let name = queue.name().clone();
    let binding = channel.queue_bind(
        name.clone(),
        EXCHANGE.into(),
        "".into(),
        QueueBindOptions::default(),
        FieldTable::default(),
    );
    binding.await?;
    let unacked = BasicConsumeOptions { no_ack: true, ..Default::default() };
    let subscription =
        Subscription::open(broker, channel, name.as_str(), limits::LISTENER_EVENTS_MAX, unacked)
            .await?;
    Ok(RabbitListener { subscription })
}

pub struct RabbitListener {
    subscription: Subscription,
}

#[async_trait]
impl Listener for RabbitListener {
    async fn next(&mut self) -> Result<SessionEvent, Error> {
        loop {
            let delivery = match self.subscription.next().await {
                Some(Ok(delivery)) => delivery,
                Some(Err(error)) => return Err(Error::Lost { reason: error.to_string() }),
                None => return Err(Error::Lost { reason: "the broker stopped the events".into() }),
            };
            match serde_json::from_slice(&delivery.data) {
                Ok(event) => return Ok(event),
                // Of another version perhaps. Events are hints: what matters is found without them.
                Err(error) => tracing::debug!(%error, "an event that cannot be read"),
            }
        }
    }
}
