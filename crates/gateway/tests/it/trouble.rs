//! A broker in trouble, and a gateway that cannot start. The gateway is asked directly here, without
//! Flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use caudal_broker::{
    Broker, Consumer, Delivery, DeliveryTag, Error, Listener, MemoryBroker, Outage, QueueKind,
    SessionEvent,
};
use caudal_core::{Coded, QueryId, Source, TableId};
use caudal_gateway::{Gateway, Owner, Settings, TlsFiles, serve};
use caudal_protocol::calls::ResultWhat;
use caudal_protocol::{Message, Queues};

use crate::support::{Cluster, numbers_request};

/// Short of memory, and loses every consumer after its first delivery, so many times.
struct Losing {
    broker: Arc<MemoryBroker>,
    losses_left: Arc<AtomicUsize>,
    /// It does not answer who makes a queue.
    is_deaf: Arc<AtomicBool>,
}

impl Losing {
    fn new(cluster: &Cluster) -> Self {
        let broker = Arc::clone(&cluster.broker);
        Self { broker, losses_left: Arc::default(), is_deaf: Arc::default() }
    }
}

struct LosingConsumer {
    consumer: Box<dyn Consumer>,
    delivered: bool,
    losses_left: Arc<AtomicUsize>,
}

#[async_trait]
impl Broker for Losing {
    async fn declare(&self, queue: &str, kind: QueueKind) -> Result<(), Error> {
        if self.is_deaf.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        self.broker.declare(queue, kind).await
    }

    async fn delete(&self, queue: &str) -> Result<(), Error> {
        self.broker.delete(queue).await
    }

    async fn publish(&self, queue: &str, message: Arc<Message>) -> Result<(), Error> {
        self.broker.publish(queue, message).await
    }

    async fn has_consumer(&self, queue: &str) -> Result<bool, Error> {
        self.broker.has_consumer(queue).await
    }

    async fn wait_for_capacity(&self, queue: &str) {
        self.broker.wait_for_capacity(queue).await;
    }

    async fn consume(&self, queue: &str, prefetch: usize) -> Result<Box<dyn Consumer>, Error> {
        let consumer = self.broker.consume(queue, prefetch).await?;
        let losses_left = Arc::clone(&self.losses_left);
        Ok(Box::new(LosingConsumer { consumer, delivered: false, losses_left }))
    }

    async fn announce(&self, event: SessionEvent) -> Result<(), Error> {
        self.broker.announce(event).await
    }

    async fn listen(&self) -> Result<Box<dyn Listener>, Error> {
        self.broker.listen().await
    }

    fn outage(&self) -> Option<Outage> {
        Some(Outage::Blocked)
    }
}

#[async_trait]
impl Consumer for LosingConsumer {
    async fn next(&mut self) -> Result<Option<Delivery>, Error> {
        let is_time = self.delivered && self.losses_left.load(Ordering::Relaxed) > 0;
        if is_time {
            self.losses_left.fetch_sub(1, Ordering::Relaxed);
            return Err(Error::Lost { reason: "a test".to_string() });
        }
        self.delivered = true;
        self.consumer.next().await
    }

    async fn ack(&self, delivery: DeliveryTag) -> Result<(), Error> {
        self.consumer.ack(delivery).await
    }
}

fn settings() -> Settings {
    Settings::new("gateway-1", "127.0.0.1:0".parse().unwrap())
}

#[tokio::test]
async fn a_reader_survives_the_loss_of_its_consumer() {
    let cluster = Cluster::new();
    let losses_left = Arc::new(AtomicUsize::new(2));
    let broker = Losing { losses_left: losses_left.clone(), ..Losing::new(&cluster) };
    let gateway = Gateway::new(settings(), Arc::new(broker), Arc::clone(&cluster.store));
    let (gateway, owner) = (Arc::new(gateway), Owner::of_token(""));
    let session = gateway.open(&owner, numbers_request(1)).await.unwrap().session;
    let queue = Queues { session: session.clone() }.result(QueryId(0));
    for count in 0..3 {
        let source = Source::Table(TableId(0));
        cluster.send(&queue, Message::End { source, count }).await;
    }

    let mut result = gateway.result(&owner, &session, QueryId(0)).await.unwrap();
    let mut counts = vec![];
    let mut tags = vec![];
    for _ in 0..5 {
        let (item, _) = result.next().await.unwrap();
        let ResultWhat::End { count, .. } = item.what else { panic!("an end: {item:?}") };
        counts.push(count);
        tags.push(item.tag);
    }
    assert_eq!(losses_left.load(Ordering::Relaxed), 0, "it was lost twice");
    assert_eq!(counts, [0, 0, 0, 1, 2], "what was not acknowledged comes again");
    assert_eq!(tags, [0, 1, 2, 3, 4]);
    // Of a lost consumer: there is nothing left to acknowledge there.
    result.ack(1).await.unwrap();
    result.ack(4).await.unwrap();
    drop(result);
    assert!(cluster.take_all(&queue).await.is_empty(), "all of it is acknowledged");
}

#[tokio::test]
async fn a_client_learns_that_the_broker_is_in_trouble() {
    let cluster = Cluster::new();
    let broker = Losing::new(&cluster);
    let gateway = Gateway::new(settings(), Arc::new(broker), Arc::clone(&cluster.store));
    let (gateway, owner) = (Arc::new(gateway), Owner::of_token(""));
    let session = gateway.open(&owner, numbers_request(1)).await.unwrap().session;
    let mut attached = gateway.attach(&owner, &session, false).await.unwrap();
    let status = attached.next().await.unwrap();
    let blocked = "the broker takes nothing: it is short of memory or disk";
    assert_eq!(status.waiting_for, [blocked, "no worker has claimed the session"]);
}

#[tokio::test]
async fn an_open_that_the_broker_does_not_answer_ends_and_can_be_said_again() {
    let cluster = Cluster::new();
    let broker = Losing::new(&cluster);
    let is_deaf = Arc::clone(&broker.is_deaf);
    let gateway = Gateway::new(settings(), Arc::new(broker), Arc::clone(&cluster.store));
    let (gateway, owner) = (Arc::new(gateway), Owner::of_token(""));
    is_deaf.store(true, Ordering::Relaxed);
    let asked = tokio::time::Instant::now();
    let error = gateway.open(&owner, numbers_request(1)).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let (waited, grace) = (asked.elapsed(), settings().grace);
    assert!(waited < grace / 2, "{waited:?} of the {grace:?} after which janitors end the session");
    is_deaf.store(false, Ordering::Relaxed);
    gateway.open(&owner, numbers_request(1)).await.unwrap();
}

#[tokio::test]
async fn a_gateway_that_cannot_start_says_why() {
    let cluster = Cluster::new();
    let taken = cluster.gateway().await.address;
    let folder = tempfile::tempdir().unwrap();
    let no_pem = folder.path().join("no.pem");
    std::fs::write(&no_pem, "no certificate").unwrap();
    let tls = |path: &std::path::Path| {
        let files = TlsFiles { certificate: path.to_path_buf(), key: path.to_path_buf() };
        Settings { tls: Some(files), ..settings() }
    };
    let cases = [
        (Settings { listen: taken, ..settings() }, "CDL-8016"),
        (tls(&folder.path().join("none.pem")), "CDL-8017"),
        (tls(&no_pem), "CDL-8018"),
    ];
    for (settings, code) in cases {
        let never = std::future::pending();
        let store = Arc::clone(&cluster.store);
        let error = serve(settings, cluster.broker(), store, never, |_| panic!("it listens"));
        assert_eq!(error.await.unwrap_err().code(), code);
    }
}
