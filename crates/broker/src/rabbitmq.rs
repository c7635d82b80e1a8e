//! The broker of a cluster: RabbitMQ.
//!
//! - [`link`]: two connections, one to publish and one for everything else; [`connections`]: more of them, for subscriptions. A broker short of memory
//!   stops reading from publishers; acknowledgements must still get through.
//! - [`pool`]: channels, each carrying one operation at a time.
//! - [`subscription`]: deliveries and their acknowledgement.
//! - [`capacity`]: waiting at a full queue.
//! - [`name`]: no two nodes of one name.
//! - [`events`], [`declare`], [`fault`], [`io`]: what their names say.
//! - [`private`]: a RabbitMQ of one's own on this machine.
//!
//! A publish returns when the broker has confirmed it. One that was not confirmed when a connection
//! broke is sent again, the same bytes: whether the first arrived cannot be known, and whoever
//! consumes drops what it has seen.

mod capacity;
mod connections;
mod declare;
mod events;
mod fault;
mod io;
mod link;
mod name;
mod pool;
pub mod private;
mod subscription;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::limits;
use caudal_protocol::{Message, Queues, wire};
use caudal_runtime::failpoint;
use lapin::options::{
    BasicConsumeOptions, BasicPublishOptions, QueueDeclareOptions, QueueDeleteOptions,
};
use lapin::types::FieldTable;
use lapin::uri::AMQPUri;
use lapin::{BasicProperties, Channel, Confirmation};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::capacity::Capacities;
use self::connections::Connections;
use self::fault::Fault;
use self::io::Io;
use self::link::Link;
use self::pool::Pool;
use self::subscription::{RabbitConsumer, Subscription};
use crate::{Broker, Consumer, Error, Listener, Outage, QueueKind, SessionEvent};

pub use self::declare::QueueType;

/// Written to disk before it is confirmed.
const PERSISTENT: u8 = 2;

#[derive(Clone)]
pub struct Settings {
    /// `amqp://user:password@host:port/vhost`, or `amqps://`.
    pub url: String,
    pub queue_type: QueueType,
    /// Time that an absent broker is waited for before it is an error.
    pub timeout: Duration,
}

impl Settings {
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            queue_type: QueueType::default(),
            timeout: Duration::from_secs(limits::BROKER_AWAY_SECONDS_MAX),
        }
    }
}

/// Cheap to clone; the connections close with the last clone and the last consumer.
#[derive(Clone)]
pub struct RabbitBroker {
    shared: Arc<Shared>,
}

struct Shared {
    queue_type: QueueType,
    publishing: Pool,
    consuming: Pool,
    subscribing: Connections,
    uri: AMQPUri,
    timeout: Duration,
    capacities: Capacities,
    in_flight: Arc<Semaphore>,
    in_flight_kib: Arc<Semaphore>,
    /// The last field: threads end after everything that needs them.
    io: Io,
}

impl RabbitBroker {
    /// Returns when both connections are there, or an absent broker has been waited for long enough.
    pub async fn connect(settings: Settings) -> Result<Self, Error> {
        let Settings { url, queue_type, timeout } = settings;
        let uri = link::parse(&url)?;
        let io = Io::start()
            .map_err(|error| Error::Refused { reason: format!("no threads: {error}") })?;
        let pool = |name, confirms| Pool::new(start(&io, &uri, name, timeout), confirms);
        let publishing = pool("publishing", true);
        let consuming = pool("consuming", false);
        publishing.link.up(&mut None).await?;
        let connection = consuming.link.up(&mut None).await?;
        let channels_max = usize::from(connection.configuration().channel_max());
        let subscribing = Connections::new(consuming.link.clone(), channels_max);
        let shared = Shared {
            queue_type,
            publishing,
            consuming,
            subscribing,
            uri,
            timeout,
            capacities: Capacities::default(),
            in_flight: Arc::new(Semaphore::new(limits::PUBLISH_MESSAGES_IN_FLIGHT_MAX)),
            in_flight_kib: Arc::new(Semaphore::new(limits::PUBLISH_BYTES_IN_FLIGHT_MAX >> 10)),
            io,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Runs until it is done, whatever becomes of the caller.
    fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.shared.io.handle().spawn(task)
    }

    /// A queue as it is now.
    async fn look(&self, queue: &str) -> Result<lapin::Queue, Error> {
        let looking = self.shared.consuming.with_channel(queue, |channel| async move {
            let look = QueueDeclareOptions { passive: true, ..Default::default() };
            Ok(channel.queue_declare(queue.into(), look, FieldTable::default()).await?)
        });
        looking.await
    }

    /// The number of messages that wait in a queue, if there is one.
    async fn messages_waiting(&self, queue: &str) -> Result<Option<u32>, Error> {
        match self.look(queue).await {
            Ok(queue) => Ok(Some(queue.message_count())),
            Err(Error::NoQueue { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a message to the broker, again after each lost connection, until it answers.
    async fn deliver(&self, to: Destination, body: Bytes) -> Result<Confirmation, Error> {
        let permits = self.permits(body.len()).await;
        let broker = self.clone();
        // A publish that is dropped half-way leaves its channel unusable: it is always finished.
        let publishing = self.spawn(async move {
            let publishing = &broker.shared.publishing;
            let confirmed =
                publishing.with_channel(&to.key, |channel| publish(channel, &to, &body)).await;
            drop(permits);
            confirmed
        });
        publishing.await.expect("nothing in it panics, and its runtime lives as long as self")
    }

    async fn permits(&self, bytes: usize) -> [OwnedSemaphorePermit; 2] {
        let kib = u32::try_from(bytes.div_ceil(1 << 10)).expect("messages are far below 4 TiB");
        let one = Arc::clone(&self.shared.in_flight).acquire_owned().await;
        let weight = Arc::clone(&self.shared.in_flight_kib).acquire_many_owned(kib).await;
        [one, weight].map(|permit| permit.expect("never closed"))
    }
}

fn start(io: &Io, uri: &AMQPUri, name: &'static str, timeout: Duration) -> Link {
    let (link, supervisor) = Link::start(io.handle(), uri.clone(), name, timeout);
    io.supervise(supervisor);
    link
}

struct Destination {
    exchange: &'static str,
    key: String,
    /// It is returned when there is no such queue.
    mandatory: bool,
}

async fn publish(channel: Channel, to: &Destination, body: &Bytes) -> Result<Confirmation, Fault> {
    let options = BasicPublishOptions { mandatory: to.mandatory, ..Default::default() };
    let properties = BasicProperties::default().with_delivery_mode(PERSISTENT);
    let sending = channel.basic_publish(
        to.exchange.into(),
        to.key.as_str().into(),
        options,
        body,
        properties,
    );
    let confirm = sending.await?;
    failpoint::hit("publish.sent");
    Ok(confirm.await?)
}

fn encode(queue: &str, message: &Message) -> Result<Bytes, Error> {
    wire::encode(message)
        .map_err(|error| Error::Unencodable { queue: queue.to_string(), reason: error.to_string() })
}

#[async_trait]
impl Broker for RabbitBroker {
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error> {
        let arguments = &declare::arguments(kind, self.shared.queue_type);
        let declaring = self.shared.consuming.with_channel(queue, |channel| async move {
            let durable = QueueDeclareOptions { durable: true, ..Default::default() };
            Ok(channel.queue_declare(queue.into(), durable, arguments.clone()).await?)
        });
        declaring.await.map(drop)
    }

    async fn delete(&self, queue: &str) -> Result<(), Error> {
        let deleting = self.shared.consuming.with_channel(queue, |channel| async move {
            Ok(channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await?)
        });
        match deleting.await {
            Ok(_) | Err(Error::NoQueue { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error> {
        self.publish_encoded(queue, encode(queue, &message)?).await
    }

    /// The same bytes: rows that are only passed on are not decoded for it.
    async fn publish_encoded(&self, queue: &str, body: Bytes) -> Result<(), Error> {
        let (bytes, bytes_max) = (body.len(), limits::WIRE_BYTES_MAX);
        if bytes > bytes_max {
            return Err(Error::TooLarge { queue: queue.to_string(), bytes, bytes_max });
        }
        let to = Destination { exchange: "", key: queue.to_string(), mandatory: true };
        match self.deliver(to, body).await? {
            Confirmation::Ack(None) => Ok(()),
            Confirmation::Nack(None) if Queues::is_result(queue) => {
                Err(Error::OverQuota { queue: queue.to_string() })
            }
            Confirmation::Nack(None) => Err(Error::Full { queue: queue.to_string() }),
            Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)) => {
                Err(Error::NoQueue { queue: queue.to_string() })
            }
            Confirmation::NotRequested => unreachable!("the channels of this pool confirm"),
        }
    }

    async fn has_consumer(&self, queue: &str) -> Result<bool, Error> {
        Ok(self.look(queue).await?.consumer_count() > 0)
    }

    async fn wait_for_capacity(&self, queue: &str) {
        self.shared.capacities.wait(self, queue).await;
    }

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error> {
        let Shared { subscribing, uri, timeout, io, .. } = self.shared.as_ref();
        let place = subscribing.place(|| start(io, uri, "subscribing", *timeout))?;
        let subscribing = place.link.persist(queue, |connection| async move {
            let channel = connection.create_channel().await?;
            let options = BasicConsumeOptions::default();
            Subscription::open(self.clone(), channel, queue, prefetch, options).await
        });
        let mut subscription = subscribing.await?;
        subscription.place = Some(place);
        Ok(Box::new(RabbitConsumer::new(queue.to_string(), subscription)))
    }

    async fn announce(&self, event: SessionEvent) -> Result<(), Error> {
        let body = Bytes::from(serde_json::to_vec(&event).expect("names and texts are JSON"));
        let declaring =
            self.shared.consuming.with_channel(events::EXCHANGE, |channel| async move {
                events::declare_exchange(&channel).await
            });
        declaring.await?;
        // Nobody may be listening.
        let to = Destination { exchange: events::EXCHANGE, key: String::new(), mandatory: false };
        self.deliver(to, body).await.map(drop)
    }

    async fn listen(&self) -> Result<Box<dyn Listener>, Error> {
        let link = &self.shared.consuming.link;
        let listening = link.persist(events::EXCHANGE, |connection| async move {
            events::listen(self.clone(), connection.create_channel().await?).await
        });
        Ok(Box::new(listening.await?))
    }

    fn outage(&self) -> Option<Outage> {
        self.shared.publishing.link.outage()
    }

    /// Encodes once, however often it is refused.
    async fn send(&self, queue: &str, message: Message) -> Result<(), Error> {
        let body = encode(queue, &message)?;
        drop(message);
        self.send_encoded(queue, body).await
    }
}
