//! Gateways that share a broker and a store, and a client that speaks Flight and nothing else.

use std::mem::ManuallyDrop;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::utils::batches_to_flight_data;
use arrow_flight::{Action, FlightData, FlightDescriptor, PutResult};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use caudal_broker::{Broker, MemoryBroker};
use caudal_core::SessionId;
use caudal_gateway::{Error, Settings, serve};
use caudal_protocol::calls::{
    CODE_HEADER, OpenReply, OpenRequest, PutBatch, ResultItem, SessionRequest, StreamCommand,
};
use caudal_protocol::encoding::Encodings;
use caudal_protocol::manifest::{QuerySpec, TableEntry};
use caudal_protocol::{Message, schema};
use caudal_store::Store;
use caudal_testing::until;
use futures::StreamExt;
use futures::channel::mpsc;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

/// Longer than anything here takes, on any machine.
pub const DEADLINE: Duration = Duration::from_secs(30);

pub struct Cluster {
    pub broker: Arc<MemoryBroker>,
    pub store: Arc<dyn Store>,
}

impl Cluster {
    pub fn new() -> Self {
        Self { broker: Arc::default(), store: caudal_store::open("memory:").unwrap() }
    }

    pub async fn gateway(&self) -> Node {
        self.gateway_with(|_| {}).await
    }

    pub async fn gateway_with(&self, change: impl FnOnce(&mut Settings)) -> Node {
        let mut settings = Settings::new("gateway-1", "127.0.0.1:0".parse().unwrap());
        change(&mut settings);
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = oneshot::channel();
        let (broker, store) = (self.broker(), Arc::clone(&self.store));
        let serving = serve(
            settings,
            broker,
            store,
            async {
                if stopped.await.is_err() {
                    std::future::pending().await
                }
            },
            |address| bound.send(address).unwrap(),
        );
        // Of its own, so that everything of the gateway can be ended at once.
        let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = ManuallyDrop::new(runtime.unwrap());
        let serving = runtime.spawn(serving);
        let address = address.await.expect("the gateway listens");
        Node { address, stop, serving, runtime }
    }

    pub fn broker(&self) -> Arc<dyn Broker> {
        Arc::new(Arc::clone(&self.broker))
    }

    pub async fn send(&self, queue: &str, message: Message) {
        self.broker().send(queue, message).await.unwrap();
    }

    /// Takes the messages that wait in a queue.
    pub async fn take_all(&self, queue: &str) -> Vec<Message> {
        let mut consumer = self.broker().consume(queue, 1000).await.unwrap();
        let mut taken = vec![];
        while let Some(next) = futures::FutureExt::now_or_never(consumer.next()) {
            let delivery = next.unwrap().expect("the queue is there");
            consumer.ack(delivery.tag).await.unwrap();
            taken.push(Arc::unwrap_or_clone(delivery.message));
        }
        taken
    }

    /// Everything but tombstones.
    pub async fn leftovers(&self) -> Vec<String> {
        let mut left = self.broker.queue_names();
        left.extend(self.store.list("sessions").await.unwrap());
        left.extend(self.store.list("slots").await.unwrap());
        left
    }

    pub async fn wait_until_nothing_is_left(&self) {
        until("nothing is left", async || self.leftovers().await.is_empty()).await;
    }
}

pub struct Node {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), Error>>,
    /// A test that forgets the node wants it to serve until the test ends.
    runtime: ManuallyDrop<Runtime>,
}

impl Node {
    pub async fn client(&self) -> Client {
        let channel = self.endpoint("http").connect().await.unwrap();
        Client { flight: FlightServiceClient::new(channel), token: None }
    }

    pub fn endpoint(&self, scheme: &str) -> Endpoint {
        Endpoint::from_shared(format!("{scheme}://{}", self.address)).unwrap()
    }

    /// Ends it as SIGTERM does; returns when it has left.
    pub async fn leave(self) {
        self.stop.send(()).unwrap();
        timeout(DEADLINE, self.serving).await.expect("it leaves").unwrap().unwrap();
    }

    /// Ends it as SIGKILL does.
    pub async fn kill(self) {
        ManuallyDrop::into_inner(self.runtime).shutdown_background();
        assert!(self.serving.await.unwrap_err().is_cancelled());
    }
}

#[derive(Clone)]
pub struct Client {
    pub flight: FlightServiceClient<Channel>,
    pub token: Option<String>,
}

impl Client {
    pub fn with_token(&self, token: &str) -> Self {
        Self { flight: self.flight.clone(), token: Some(token.to_string()) }
    }

    fn request<T>(&self, body: T) -> Request<T> {
        let mut request = Request::new(body);
        if let Some(token) = &self.token {
            let header = format!("Bearer {token}").parse().unwrap();
            request.metadata_mut().insert("authorization", header);
        }
        request
    }

    pub async fn action(&self, name: &str, body: impl Into<Bytes>) -> Result<Bytes, Status> {
        let request = self.request(Action::new(name, body));
        let mut answers = self.flight.clone().do_action(request).await?.into_inner();
        Ok(answers.message().await?.expect("an answer").body)
    }

    pub async fn ask<T: DeserializeOwned>(
        &self,
        name: &str,
        body: &impl Serialize,
    ) -> Result<T, Status> {
        let answer = self.action(name, serde_json::to_vec(body).unwrap()).await?;
        Ok(serde_json::from_slice(&answer).unwrap())
    }

    pub async fn open(&self, request: &OpenRequest) -> Result<OpenReply, Status> {
        self.ask("open", request).await
    }

    pub async fn close(&self, session: &SessionId) -> Result<(), Status> {
        let request = SessionRequest { session: session.clone() };
        self.ask::<serde_json::Value>("close", &request).await.map(|_| ())
    }

    pub async fn exchange(&self, command: &StreamCommand) -> Result<Exchange, Status> {
        let (sender, receiver) = mpsc::unbounded();
        let descriptor = FlightDescriptor::new_cmd(serde_json::to_vec(command).unwrap());
        sender.unbounded_send(FlightData::new().with_descriptor(descriptor)).unwrap();
        let answers = self.flight.clone().do_exchange(self.request(receiver)).await?;
        Ok(Exchange { sender, answers: answers.into_inner() })
    }

    pub async fn attach(&self, session: &SessionId) -> Result<Exchange, Status> {
        self.exchange(&StreamCommand::Attach { session: session.clone(), resends: false }).await
    }

    /// As a client that can send its tables again.
    pub async fn attach_resending(&self, session: &SessionId) -> Result<Exchange, Status> {
        self.exchange(&StreamCommand::Attach { session: session.clone(), resends: true }).await
    }

    pub async fn put(&self, messages: Vec<FlightData>) -> Result<Streaming<PutResult>, Status> {
        self.put_stream(futures::stream::iter(messages)).await
    }

    pub async fn put_stream(
        &self,
        messages: impl futures::Stream<Item = FlightData> + Send + 'static,
    ) -> Result<Streaming<PutResult>, Status> {
        Ok(self.flight.clone().do_put(self.request(messages)).await?.into_inner())
    }
}

/// Both directions of a `DoExchange`.
pub struct Exchange {
    pub sender: mpsc::UnboundedSender<FlightData>,
    pub answers: Streaming<FlightData>,
}

impl Exchange {
    pub async fn next(&mut self) -> Result<FlightData, Status> {
        let answer = timeout(DEADLINE, self.answers.next()).await.expect("an answer in time");
        answer.expect("the stream goes on, or ends with an error")
    }

    pub async fn next_as<T: DeserializeOwned>(&mut self) -> Result<T, Status> {
        let message = self.next().await?;
        Ok(serde_json::from_slice(&message.app_metadata).unwrap())
    }

    /// The next message of a result, past its schema.
    pub async fn next_item(&mut self) -> Result<ResultItem, Status> {
        loop {
            let message = self.next().await?;
            if !message.app_metadata.is_empty() {
                return Ok(serde_json::from_slice(&message.app_metadata).unwrap());
            }
        }
    }

    /// The error that the stream ends with, whatever comes before.
    pub async fn end(mut self) -> Status {
        loop {
            if let Err(status) = self.next().await {
                return status;
            }
        }
    }

    pub fn say(&self, metadata: &impl Serialize) {
        let message = FlightData::new().with_app_metadata(serde_json::to_vec(metadata).unwrap());
        self.sender.unbounded_send(message).unwrap();
    }
}

pub fn code(status: &Status) -> &str {
    header(status, CODE_HEADER).unwrap_or("no code")
}

pub fn header<'a>(status: &'a Status, name: &str) -> Option<&'a str> {
    Some(status.metadata().get(name)?.to_str().unwrap())
}

pub fn text_header(status: &Status, name: &str) -> String {
    let text = BASE64_STANDARD.decode(header(status, name).expect("the header")).unwrap();
    String::from_utf8(text).unwrap()
}

/// A session of one table of numbers and two queries: one answered by the fragments themselves, one by
/// the shards.
pub fn numbers_request(nonce: u128) -> OpenRequest {
    let columns = Schema::new(vec![
        Field::new("n", DataType::Int64, true),
        Field::new("unused", DataType::Utf8, true),
    ]);
    let query = |name: &str, sql: &str| QuerySpec {
        name: name.to_string(),
        sql: sql.to_string(),
        params: vec![],
    };
    let schema = schema::encode(&columns);
    OpenRequest {
        nonce: format!("{nonce:032x}"),
        tables: vec![
            TableEntry { name: "numbers".into(), schema: schema.clone() },
            TableEntry { name: "unread".into(), schema },
        ],
        queries: vec![
            query("big", "SELECT n FROM numbers WHERE n > 1"),
            query("sums", "SELECT n % 10 AS k, sum(n) AS s FROM numbers GROUP BY k"),
        ],
        shards: Some(2),
    }
}

pub fn numbers(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    RecordBatch::try_from_iter_with_nullable([("n", column, true)]).unwrap()
}

/// Messages of a client's put: the schema with the command, then numbered batches.
pub fn put_messages(
    session: &SessionId,
    table: u32,
    batches: Vec<(u32, RecordBatch)>,
) -> Vec<FlightData> {
    let schema = batches[0].1.schema();
    let (numbers, batches): (Vec<_>, Vec<_>) = batches.into_iter().unzip();
    let mut messages = batches_to_flight_data(&schema, batches).unwrap();
    let command =
        StreamCommand::Table { session: session.clone(), table: caudal_core::TableId(table) };
    let descriptor = FlightDescriptor::new_cmd(serde_json::to_vec(&command).unwrap());
    messages[0].flight_descriptor = Some(descriptor);
    for (message, number) in messages[1..].iter_mut().zip(numbers) {
        message.app_metadata =
            serde_json::to_vec(&PutBatch { number, encodings: Encodings::default() })
                .unwrap()
                .into();
    }
    messages
}
