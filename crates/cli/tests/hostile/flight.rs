//! An attacker's own client: speaks Flight, and says what no client of ours would.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{Action, FlightData, FlightDescriptor, PutResult};
use bytes::Bytes;
use caudal_core::{QueryId, SessionId, TableId};
use caudal_protocol::calls::{
    CODE_HEADER, OpenReply, OpenRequest, PutBatch, SessionRequest, StreamCommand,
};
use caudal_protocol::encoding::Encodings;
use caudal_protocol::manifest::{QuerySpec, TableEntry};
use caudal_protocol::{ipc, schema};
use futures::channel::mpsc;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

use crate::attack::{Told, UNIMPLEMENTED};
use crate::ground::shortened;

/// Longer than anything may take that is answered at all.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub struct Attacker {
    pub flight: FlightServiceClient<Channel>,
    token: Option<String>,
}

impl Attacker {
    pub async fn connect(address: &str, token: &str) -> Self {
        Self::try_connect(address, Some(token)).await.unwrap()
    }

    pub async fn try_connect(
        address: &str,
        token: Option<&str>,
    ) -> Result<Self, tonic::transport::Error> {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.connect_timeout(DEADLINE).timeout(DEADLINE).connect().await?;
        Ok(Self { flight: FlightServiceClient::new(channel), token: token.map(String::from) })
    }

    pub fn request<T>(&self, body: T) -> Request<T> {
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

    pub async fn say(&self, name: &str, session: &SessionId) -> Result<(), Status> {
        let request = SessionRequest { session: session.clone() };
        self.ask::<serde_json::Value>(name, &request).await.map(drop)
    }

    pub async fn open(&self, queries: &[&str]) -> Result<OpenReply, Status> {
        self.ask("open", &numbers_request(queries)).await
    }

    pub async fn exchange(&self, command: &StreamCommand) -> Result<Exchange, Status> {
        let (sender, receiver) = mpsc::unbounded();
        let descriptor = FlightDescriptor::new_cmd(serde_json::to_vec(command).unwrap());
        sender.unbounded_send(FlightData::new().with_descriptor(descriptor)).unwrap();
        let answers = self.flight.clone().do_exchange(self.request(receiver)).await?;
        Ok(Exchange { _sender: sender, answers: answers.into_inner() })
    }

    pub async fn attach(&self, session: &SessionId) -> Result<Exchange, Status> {
        self.exchange(&StreamCommand::Attach { session: session.clone(), resends: false }).await
    }

    pub async fn result(&self, session: &SessionId) -> Result<Exchange, Status> {
        let (session, query) = (session.clone(), QueryId(0));
        self.exchange(&StreamCommand::Result { session, query }).await
    }

    pub async fn put_stream(
        &self,
        messages: impl futures::Stream<Item = FlightData> + Send + 'static,
    ) -> Result<Streaming<PutResult>, Status> {
        Ok(self.flight.clone().do_put(self.request(messages)).await?.into_inner())
    }

    /// Puts it all; the error that it ends with, if it does.
    pub async fn put(&self, messages: Vec<FlightData>) -> Result<(), Status> {
        let mut answers = self.put_stream(futures::stream::iter(messages)).await?;
        while answers.message().await?.is_some() {}
        Ok(())
    }
}

/// Both directions of a `DoExchange`.
pub struct Exchange {
    _sender: mpsc::UnboundedSender<FlightData>,
    pub answers: Streaming<FlightData>,
}

impl Exchange {
    /// What the stream ends with, or says of a failure.
    pub async fn end(mut self) -> Told {
        let end = async {
            loop {
                match self.answers.message().await {
                    Err(status) => return told(&status),
                    Ok(None) => return Told::new("the end"),
                    Ok(Some(message)) => {
                        let said: serde_json::Value =
                            serde_json::from_slice(&message.app_metadata).unwrap_or_default();
                        if let Some(code) = said["failure"]["code"].as_str() {
                            return Told::new(code);
                        }
                    }
                }
            }
        };
        timeout(DEADLINE, end).await.unwrap_or_else(|_| Told::new("nothing"))
    }
}

/// The code of a refusal.
pub fn told(status: &Status) -> Told {
    let code = status.metadata().get(CODE_HEADER).map(|code| code.to_str().unwrap().to_string());
    let word = code.unwrap_or_else(|| match status.code() {
        tonic::Code::Unimplemented => UNIMPLEMENTED.to_string(),
        code => format!("no code, {code:?}"),
    });
    Told::with(word, shortened(status.message()))
}

/// The worst of several: the first that was not refused with a code.
pub fn worst(told: impl IntoIterator<Item = Told>) -> Told {
    let told: Vec<Told> = told.into_iter().collect();
    let uncoded = told.iter().find(|told| !told.word.starts_with("CDL-"));
    uncoded.or(told.first()).cloned().unwrap_or_else(|| Told::new("nothing"))
}

/// What a call was told: `what`, if it was not refused.
pub fn told_of<T>(done: Result<T, Status>, what: &str) -> Told {
    done.map_or_else(|status| told(&status), |_| Told::new(what))
}

fn columns() -> Schema {
    Schema::new(vec![Field::new("n", DataType::Int64, true)])
}

/// A session over one table of numbers.
pub fn numbers_request(queries: &[&str]) -> OpenRequest {
    let query = |(at, sql): (usize, &&str)| QuerySpec {
        name: format!("q{at}"),
        sql: sql.to_string(),
        params: vec![],
    };
    OpenRequest {
        nonce: format!("{:032x}", fastrand::u128(..)),
        tables: vec![TableEntry { name: "numbers".into(), schema: schema::encode(&columns()) }],
        queries: queries.iter().enumerate().map(query).collect(),
        shards: Some(2),
    }
}

pub fn numbers(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    RecordBatch::try_from_iter_with_nullable([("n", column, true)]).unwrap()
}

/// What a client puts: the schema with the command, then numbered batches, packed.
pub fn put_messages(session: &SessionId, batches: &[(u32, RecordBatch)]) -> Vec<FlightData> {
    let schema = batches.first().map_or_else(|| Arc::new(columns()), |(_, batch)| batch.schema());
    let command = StreamCommand::Table { session: session.clone(), table: TableId(0) };
    let descriptor = FlightDescriptor::new_cmd(serde_json::to_vec(&command).unwrap());
    let first = FlightData::new()
        .with_descriptor(descriptor)
        .with_data_header(ipc::encode_schema(&schema).metadata);
    let batches = batches.iter().map(|(number, batch)| {
        let (_, rows) = ipc::encode_batch(batch).unwrap();
        let put = PutBatch { number: *number, encodings: Encodings::default() };
        FlightData::new()
            .with_data_header(rows.metadata)
            .with_data_body(rows.body)
            .with_app_metadata(serde_json::to_vec(&put).unwrap())
    });
    [first].into_iter().chain(batches).collect()
}
