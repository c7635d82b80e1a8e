//! Arrow Flight: translates calls into what a [`Gateway`] does, and nothing else.

use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow::ipc::convert::try_schema_from_flatbuffer_bytes;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
};
use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::{SessionId, TableId, limits};
use caudal_protocol::calls::{
    CODE_HEADER, EndRequest, OpenRequest, PutAck, PutBatch, ResultAck, SessionRequest,
    StreamCommand,
};
use caudal_protocol::ipc::{self, IpcMessage};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::attach::Attachment;
use crate::connections::Caller;
use crate::quota::Share;
use crate::results::ResultStream;
use crate::tokens::{Owner, authenticate};
use crate::{Error, Gateway, rows};

type Answers<T> = BoxStream<'static, Result<T, Status>>;

/// The service that [`serve`](crate::serve) puts on the network.
pub struct Flight {
    pub gateway: Arc<Gateway>,
}

const ACTIONS: [(&str, &str); 5] = [
    ("open", "opens a session: tables and queries in, what to send and what will come out"),
    ("end", "says how many batches a table has"),
    ("close", "ends a session"),
    ("cancel", "ends a session that somebody else waits for"),
    ("sessions", "lists the sessions of the token"),
];

#[async_trait]
impl FlightService for Flight {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = Answers<FlightData>;
    type DoPutStream = Answers<PutResult>;
    type DoExchangeStream = Answers<FlightData>;
    type DoActionStream = Answers<arrow_flight::Result>;
    type ListActionsStream = Answers<ActionType>;

    async fn do_action(
        &self,
        request: Request<Action>,
    ) -> Result<Response<Self::DoActionStream>, Status> {
        let Call { owner, share: _share } = call_of(&request)?;
        let action = request.into_inner();
        let tenant = self.gateway.settings.tenant(&owner);
        let count = |tenant| self.gateway.quotas.actions.take_many(tenant, action.body.len());
        let _bytes = tenant.map(count).transpose()?;
        let body = self.act(&owner, action).await?;
        Ok(Response::new(stream::iter([Ok(arrow_flight::Result { body })]).boxed()))
    }

    async fn do_put(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoPutStream>, Status> {
        let Call { owner, share } = call_of(&request)?;
        let mut incoming = request.into_inner();
        let first = first_message(&mut incoming).await?;
        match command_of(&first)? {
            StreamCommand::Table { session, table } => {
                let schema = schema_of(&first)?;
                let acks = self.take_table(owner, session, table, schema, incoming).await?;
                Ok(Response::new(holding(acks, share)))
            }
            _ => Err(bad("the command", "only a table is put").into()),
        }
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        let Call { owner, share } = call_of(&request)?;
        let mut incoming = request.into_inner();
        let first = first_message(&mut incoming).await?;
        let answers = match command_of(&first)? {
            StreamCommand::Attach { session, resends } => {
                statuses(self.gateway.attach(&owner, &session, resends).await?, incoming)
            }
            StreamCommand::Result { session, query } => {
                results(self.gateway.result(&owner, &session, query).await?, incoming)
            }
            StreamCommand::Table { .. } => {
                return Err(bad("the command", "a table is put, not exchanged").into());
            }
        };
        Ok(Response::new(holding(answers, share)))
    }

    async fn list_actions(
        &self,
        _: Request<Empty>,
    ) -> Result<Response<Self::ListActionsStream>, Status> {
        let actions = ACTIONS.map(|(name, description)| {
            Ok(ActionType { r#type: name.to_string(), description: description.to_string() })
        });
        Ok(Response::new(stream::iter(actions).boxed()))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(not_here("the token goes in the header `authorization`"))
    }

    async fn list_flights(
        &self,
        _: Request<Criteria>,
    ) -> Result<Response<Self::ListFlightsStream>, Status> {
        Err(not_here("the action `sessions` lists what there is"))
    }

    async fn get_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        Err(not_here("the action `open` says what a session needs and gives"))
    }

    async fn poll_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<PollInfo>, Status> {
        Err(not_here("the status of a session is told to the client that attaches to it"))
    }

    async fn get_schema(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<SchemaResult>, Status> {
        Err(not_here("the action `open` answers with all schemas"))
    }

    async fn do_get(&self, _: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        Err(not_here("results are exchanged, because they are acknowledged"))
    }
}

/// Finds out whose call it is, before anything of its body is read.
pub fn let_in(gateway: &Gateway, mut request: Request<()>) -> Result<Request<()>, Status> {
    let header = request.metadata().get("authorization").map(|value| value.to_str());
    let header = header.transpose().map_err(|_| Error::Unauthenticated)?;
    let owner = authenticate(header, gateway.settings.tokens.as_deref())?;
    let tenant = gateway.settings.tenant(&owner);
    if let Some(caller) = Caller::of(request.extensions()) {
        caller
            .let_in(|| tenant.map(|tenant| gateway.quotas.connections.take(tenant)).transpose())?;
    }
    // Where nobody is told apart, one who takes all of a quota would take it from everybody.
    let share = tenant.map(|tenant| gateway.quotas.streams.take(tenant)).transpose()?;
    let share = share.map(Arc::new);
    request.extensions_mut().insert(Call { owner, share });
    Ok(request)
}

/// Whose call it is, and its place among all of theirs, for as long as it lasts.
#[derive(Clone)]
pub struct Call {
    pub owner: Owner,
    share: Option<Arc<Share>>,
}

fn call_of<T>(request: &Request<T>) -> Result<Call, Error> {
    request.extensions().get().cloned().ok_or(Error::Unauthenticated)
}

/// Answers that take a share for as long as they come.
fn holding<T: 'static>(answers: Answers<T>, share: Option<Arc<Share>>) -> Answers<T> {
    answers
        .inspect(move |_| {
            let _held = &share;
        })
        .boxed()
}

impl Flight {
    async fn act(&self, owner: &Owner, action: Action) -> Result<Bytes, Error> {
        let Action { r#type: name, body } = action;
        match name.as_str() {
            "open" => {
                let request: OpenRequest = parsed("the request to open", &body)?;
                Ok(json(&self.gateway.open(owner, request).await?))
            }
            "end" => {
                let EndRequest { session, table, count, rows } =
                    parsed("the end of a table", &body)?;
                self.gateway.end_table(owner, &session, table, count, rows).await?;
                Ok(Bytes::from_static(b"{}"))
            }
            "close" => {
                let SessionRequest { session } = parsed("the request to close", &body)?;
                self.gateway.close(owner, &session).await?;
                Ok(Bytes::from_static(b"{}"))
            }
            "cancel" => {
                let SessionRequest { session } = parsed("the request to cancel", &body)?;
                self.gateway.cancel(owner, &session).await?;
                Ok(Bytes::from_static(b"{}"))
            }
            "sessions" => Ok(json(&self.gateway.list(owner).await?)),
            _ => Err(bad("the action", format!("there is none called {name:?}"))),
        }
    }

    /// Several batches are on their way to the broker at a time; acknowledgements are in the order
    /// of the stream.
    async fn take_table(
        &self,
        owner: Owner,
        session: SessionId,
        table: TableId,
        schema: Schema,
        incoming: Streaming<FlightData>,
    ) -> Result<Answers<PutResult>, Error> {
        let table = Arc::new(self.gateway.put(&owner, &session, table, &schema).await?);
        let memory = Arc::clone(&table);
        // One after the other: nothing is read before there is memory for what was read last.
        let in_hand = until_leaving(Arc::clone(&self.gateway), incoming).then(move |message| {
            let memory = Arc::clone(&memory);
            async move {
                let message = message?;
                let FlightData { data_header, data_body, app_metadata, .. } = &message;
                let bytes = data_header.len() + data_body.len() + app_metadata.len();
                let permit = memory.wait_for_memory(bytes).await;
                Ok::<_, Error>((message, permit))
            }
        });
        let puts = in_hand.map(move |in_hand| {
            let table = Arc::clone(&table);
            async move {
                let (FlightData { app_metadata, data_header, data_body, .. }, _permit) = in_hand?;
                let put: PutBatch = parsed("the metadata of a batch", bounded(&app_metadata)?)?;
                table.put(put, IpcMessage { metadata: data_header, body: data_body }).await
            }
        });
        let acks = puts.buffered(limits::PUT_WINDOW_FRAGMENTS).enumerate().map(|(at, put)| {
            put?;
            Ok(PutResult { app_metadata: json(&PutAck { acked: at as u64 + 1 }) })
        });
        Ok(acks.boxed())
    }
}

/// The client's messages. When the gateway leaves, an error comes after those that it has sent so far.
fn until_leaving(
    gateway: Arc<Gateway>,
    incoming: Streaming<FlightData>,
) -> impl Stream<Item = Result<FlightData, Error>> {
    let left = {
        let gateway = Arc::clone(&gateway);
        async move { gateway.left().await }
    };
    let end = stream::once(async move { gateway.check_staying() });
    let end = end.filter_map(|staying| async { staying.err().map(Err) });
    incoming.map_err(broken).take_until(left).chain(end)
}

/// Passes on how the session is, until the client or the gateway has enough.
fn statuses(attachment: Attachment, incoming: Streaming<FlightData>) -> Answers<FlightData> {
    stream::try_unfold((attachment, incoming), |(mut attachment, mut incoming)| async move {
        let status = tokio::select! {
            biased;
            () = ended(&mut incoming) => return Ok(None),
            status = attachment.next() => status?,
        };
        let message = FlightData::new().with_app_metadata(json(&status));
        Ok(Some((message, (attachment, incoming))))
    })
    .boxed()
}

/// Sends a result's messages while it takes acknowledgements.
fn results(result: ResultStream, incoming: Streaming<FlightData>) -> Answers<FlightData> {
    let schema = rows::schema_message(&result.schema());
    let messages = stream::try_unfold(
        (result, incoming),
        |(mut result, mut incoming)| async move {
            loop {
                tokio::select! {
                    biased;
                    ack = incoming.message() => match ack.map_err(broken)? {
                        Some(ack) => {
                            let ResultAck { tag } = parsed("an acknowledgement", &ack.app_metadata)?;
                            result.ack(tag).await?;
                        }
                        None => return Ok(None),
                    },
                    message = result.next() => {
                        let (item, rows) = message?;
                        let messages = rows::messages(json(&item), rows);
                        return Ok::<_, Status>(Some((messages, (result, incoming))));
                    }
                }
            }
        },
    );
    let messages = messages.map_ok(|messages| stream::iter(messages.into_iter().map(Ok)));
    stream::iter([Ok(schema)]).chain(messages.try_flatten()).boxed()
}

async fn ended(incoming: &mut Streaming<FlightData>) {
    while let Ok(Some(_)) = incoming.message().await {}
}

async fn first_message(incoming: &mut Streaming<FlightData>) -> Result<FlightData, Error> {
    let first = incoming.message().await.map_err(broken)?;
    first.ok_or_else(|| bad("the stream", "it ended before it said what it is for"))
}

fn command_of(first: &FlightData) -> Result<StreamCommand, Error> {
    let Some(descriptor) = &first.flight_descriptor else {
        return Err(bad("the stream", "its first message has no descriptor"));
    };
    parsed("the command", &descriptor.cmd)
}

fn schema_of(first: &FlightData) -> Result<Schema, Error> {
    ipc::guarded(|| try_schema_from_flatbuffer_bytes(&first.data_header))
        .map_err(|error| bad("the schema", error.to_string()))
}

fn parsed<T: DeserializeOwned>(what: &'static str, body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|error| bad(what, error.to_string()))
}

/// Metadata that may be parsed: it then takes far more memory than its text.
fn bounded(metadata: &Bytes) -> Result<&[u8], Error> {
    match metadata.len() > limits::PUT_METADATA_BYTES_MAX {
        true => Err(bad("the metadata of a batch", format!("{} bytes of it", metadata.len()))),
        false => Ok(metadata),
    }
}

fn json(answer: &impl Serialize) -> Bytes {
    serde_json::to_vec(answer).expect("answers are plain data").into()
}

fn bad(what: &'static str, reason: impl Into<String>) -> Error {
    Error::BadRequest { what, reason: reason.into() }
}

/// The error of a client's stream that is broken itself.
pub(crate) fn broken(status: Status) -> Error {
    match status.code() {
        _ if status.metadata().contains_key(CODE_HEADER) => Error::OverQuota {
            what: "bytes on their way",
            max: limits::GATEWAY_OWNER_INCOMING_BYTES_MAX,
        },
        Code::OutOfRange => Error::TooLarge { bytes_max: limits::WIRE_BYTES_MAX },
        _ => bad("the stream", status.message()),
    }
}

fn not_here(hint: &str) -> Status {
    Status::unimplemented(format!("not here: {hint}"))
}
