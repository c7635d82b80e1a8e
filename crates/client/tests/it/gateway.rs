//! A gateway in the hand of a test.

use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow::datatypes::Schema;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::utils::{batches_to_flight_data, flight_data_to_arrow_batch};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
};
use caudal_core::{QueryId, SessionId, TableId};
use caudal_protocol::calls::{
    OpenRequest, PutAck, PutBatch, ResultAck, ResultItem, SessionEntry, SessionRequest,
    SessionsReply, StreamCommand,
};
use caudal_protocol::encoding;
use futures::Stream;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};

use crate::cluster::Cluster;

/// Faults, each of which occurs once, at whichever gateway it meets.
#[derive(Clone, Default)]
pub struct Faults {
    /// A gateway dies with the so-manieth fragment that comes.
    pub dies_at_fragment: Option<usize>,
    /// Until then, no fragment is acknowledged.
    pub withholds_acks: bool,
    /// A gateway dies with the so-manieth message of an answer that it sends.
    pub dies_at_result: Option<usize>,
    /// Until then, nobody takes note of acknowledged answers.
    pub loses_result_acks: bool,
    pub counts: Arc<Counts>,
}

#[derive(Default)]
pub struct Counts {
    fragments: AtomicUsize,
    results: AtomicUsize,
}

/// Silence after which a client is taken to hold back, though it could send more.
const QUIET: Duration = Duration::from_millis(100);

pub struct Gateway {
    pub address: SocketAddr,
    life: Life,
}

/// Everything that runs on behalf of a gateway; taken away when it dies.
type Life = Arc<Mutex<Option<Runtime>>>;

impl Gateway {
    /// Two of them, of which one may fail.
    pub fn two(cluster: &Arc<Cluster>, faults: &Faults) -> [Self; 2] {
        [(); 2].map(|()| Self::start(cluster, faults.clone()))
    }

    pub fn start(cluster: &Arc<Cluster>, faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::start_on(listener, cluster, faults, None)
    }

    pub fn start_on(
        listener: TcpListener,
        cluster: &Arc<Cluster>,
        faults: Faults,
        identity: Option<Identity>,
    ) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let life = Life::default();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (cluster, life_of_service) = (Arc::clone(cluster), Arc::clone(&life));
        let service = Service { cluster, faults, address, life: life_of_service };
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let mut server = Server::builder();
            if let Some(identity) = identity {
                server = server.tls_config(ServerTlsConfig::new().identity(identity)).unwrap();
            }
            let service = FlightServiceServer::new(service).max_decoding_message_size(64 << 20);
            let serve = server.add_service(service);
            serve.serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap();
        });
        *life.lock().unwrap() = Some(runtime);
        Self { address, life }
    }

    pub fn name(&self) -> String {
        self.address.to_string()
    }

    pub fn is_dead(&self) -> bool {
        self.life.lock().unwrap().is_none()
    }

    pub fn kill(&self) {
        die(&self.life);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.kill();
    }
}

/// As by SIGKILL: all its connections break.
fn die(life: &Life) {
    if let Some(runtime) = life.lock().unwrap().take() {
        runtime.shutdown_background();
    }
}

#[derive(Clone)]
struct Service {
    cluster: Arc<Cluster>,
    faults: Faults,
    address: SocketAddr,
    life: Life,
}

impl Service {
    /// Counts, and dies if it is time.
    fn count(&self, counter: &AtomicUsize, dies_at: Option<usize>) {
        if Some(counter.fetch_add(1, Ordering::SeqCst) + 1) == dies_at {
            die(&self.life);
        }
    }

    fn withholds_acks(&self) -> bool {
        let so_far = self.faults.counts.fragments.load(Ordering::SeqCst);
        self.faults.withholds_acks && Some(so_far) <= self.faults.dies_at_fragment
    }

    fn loses_result_acks(&self) -> bool {
        let so_far = self.faults.counts.results.load(Ordering::SeqCst);
        self.faults.loses_result_acks && Some(so_far) <= self.faults.dies_at_result
    }

    async fn receive_table(
        self,
        table: TableId,
        first: FlightData,
        mut messages: Streaming<FlightData>,
        acks: mpsc::Sender<Result<PutResult, Status>>,
    ) {
        let schema = Arc::new(Schema::try_from(&first).unwrap());
        let (mut received, mut acked) = (0, 0);
        loop {
            // Acknowledges only when the client holds back: that shows how much it sends ahead.
            let message = match timeout(QUIET, messages.message()).await {
                Ok(Ok(Some(message))) => message,
                Ok(_) => break,
                Err(_) if self.withholds_acks() || received == acked => continue,
                Err(_) => {
                    acked = received;
                    let _ = acks.send(Ok(ack(acked))).await;
                    continue;
                }
            };
            let put: PutBatch = serde_json::from_slice(&message.app_metadata).unwrap();
            let encoded = Arc::new(put.encodings.schema(&schema).unwrap());
            let batch = flight_data_to_arrow_batch(&message, encoded, &Default::default());
            received += 1;
            {
                let mut state = self.cluster.state();
                let batch = encoding::decode(batch.unwrap(), &put.encodings).unwrap();
                let known = state.fragments.entry((table.0, put.number));
                let (times, first) = known.or_insert_with(|| (0, batch.clone()));
                *times += 1;
                let is_other = *first != batch;
                state.changed += usize::from(is_other);
                state.unacked_max = state.unacked_max.max((received - acked) as usize);
            }
            self.count(&self.faults.counts.fragments, self.faults.dies_at_fragment);
        }
        let _ = acks.send(Ok(ack(received))).await;
    }

    async fn send_answer(
        self,
        query: QueryId,
        mut acks: Streaming<FlightData>,
        sender: mpsc::Sender<Result<FlightData, Status>>,
    ) {
        let (schema, messages) = {
            let state = self.cluster.state();
            let query = &state.queries[query.index()];
            (query.schema.clone(), query.messages.clone())
        };
        let mut data = batches_to_flight_data(&schema, vec![]).unwrap();
        let _ = sender.send(Ok(data.remove(0))).await;
        let mut sent = vec![];
        for (tag, (place, (what, batch))) in (0..).zip(messages) {
            let rows = batch.map(|batch| batches_to_flight_data(&schema, vec![batch]).unwrap());
            let data = rows.map_or_else(FlightData::new, |mut data| data.remove(1));
            let item = serde_json::to_vec(&ResultItem { tag, what, rows: vec![] }).unwrap();
            sent.push(place);
            self.cluster.state().results_sent += 1;
            if sender.send(Ok(data.with_app_metadata(item))).await.is_err() {
                return;
            }
            self.count(&self.faults.counts.results, self.faults.dies_at_result);
            // The dead send nothing: what is ready could still go out with this turn of the task.
            if self.life.lock().unwrap().is_none() {
                return;
            }
        }
        while let Ok(Some(message)) = acks.message().await {
            let ResultAck { tag } = serde_json::from_slice(&message.app_metadata).unwrap();
            if !self.loses_result_acks() {
                let messages = &mut self.cluster.state().queries[query.index()].messages;
                sent.iter().take(tag as usize + 1).for_each(|place| drop(messages.remove(place)));
            }
        }
    }

    async fn tell_status(self, sender: mpsc::Sender<Result<FlightData, Status>>) {
        self.cluster.state().attaches.push(self.address);
        let mut status = self.cluster.status.subscribe();
        let mut dismissed = self.cluster.dismissed.subscribe();
        loop {
            let status_now = serde_json::to_vec(&*status.borrow_and_update()).unwrap();
            let data = FlightData::new().with_app_metadata(status_now);
            let _ = sender.send(Ok(data)).await;
            tokio::select! {
                _ = status.changed() => {}
                _ = dismissed.changed() => {
                    let why = dismissed.borrow().clone();
                    let _ = sender.send(Err(why.unwrap())).await;
                    return;
                }
                () = sender.closed() => return,
            }
        }
    }

    fn act(&self, action: &Action) -> Result<Vec<u8>, Status> {
        if let Some(refusal) = self.cluster.state().refusal(&action.r#type) {
            return Err(refusal);
        }
        let body = &action.body;
        let reply = match action.r#type.as_str() {
            "open" => {
                let request: OpenRequest = serde_json::from_slice(body).unwrap();
                serde_json::to_vec(&self.cluster.open(request)).unwrap()
            }
            "end" => {
                self.cluster.state().ends.push(serde_json::from_slice(body).unwrap());
                vec![]
            }
            "close" | "cancel" => {
                let SessionRequest { session } = serde_json::from_slice(body).unwrap();
                assert!(session.0.starts_with("s-"));
                let mut state = self.cluster.state();
                match action.r#type.as_str() {
                    "close" => state.closes += 1,
                    _ => state.cancels += 1,
                }
                vec![]
            }
            "sessions" => {
                let entry = SessionEntry {
                    session: SessionId("s-1".to_string()),
                    started_ms: 0,
                    queries: vec!["q1".to_string()],
                    tables: vec!["t".to_string()],
                    shards: 4,
                    gateway: None,
                    workers: 2,
                    rows: vec![],
                };
                serde_json::to_vec(&SessionsReply { sessions: vec![entry] }).unwrap()
            }
            other => return Err(Status::unimplemented(other.to_string())),
        };
        Ok(reply)
    }

    fn check_token<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let state = self.cluster.state();
        let Some(token) = &state.token else { return Ok(()) };
        let given = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        match given == Some(&format!("Bearer {token}")) {
            true => Ok(()),
            false => Err(refusal(tonic::Code::Unauthenticated, "CDL-8001", "who are you?")),
        }
    }
}

/// A refusal as a gateway says it.
pub fn refusal(status: tonic::Code, code: &str, message: &str) -> Status {
    let mut refusal = Status::new(status, message);
    refusal.metadata_mut().insert(caudal_protocol::calls::CODE_HEADER, code.parse().unwrap());
    refusal
}

fn ack(acked: u64) -> PutResult {
    PutResult { app_metadata: serde_json::to_vec(&PutAck { acked }).unwrap().into() }
}

fn command_of(data: &FlightData) -> StreamCommand {
    serde_json::from_slice(&data.flight_descriptor.as_ref().unwrap().cmd).unwrap()
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl FlightService for Service {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = Answers<FlightData>;
    type DoPutStream = Answers<PutResult>;
    type DoExchangeStream = Answers<FlightData>;
    type DoActionStream = Answers<arrow_flight::Result>;
    type ListActionsStream = Answers<ActionType>;

    async fn do_put(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoPutStream>, Status> {
        self.check_token(&request)?;
        let mut messages = request.into_inner();
        let first = messages.message().await?.unwrap();
        let StreamCommand::Table { table, .. } = command_of(&first) else { unreachable!() };
        let (sender, acks) = mpsc::channel(16);
        tokio::spawn(self.clone().receive_table(table, first, messages, sender));
        Ok(Response::new(Box::pin(ReceiverStream::new(acks))))
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        self.check_token(&request)?;
        let mut messages = request.into_inner();
        let first = messages.message().await?.unwrap();
        let (sender, answers) = mpsc::channel(16);
        match command_of(&first) {
            StreamCommand::Result { query, .. } => {
                tokio::spawn(self.clone().send_answer(query, messages, sender));
            }
            StreamCommand::Attach { .. } => {
                tokio::spawn(self.clone().tell_status(sender));
            }
            StreamCommand::Table { .. } => unreachable!("a table is put"),
        }
        Ok(Response::new(Box::pin(ReceiverStream::new(answers))))
    }

    async fn do_action(
        &self,
        request: Request<Action>,
    ) -> Result<Response<Self::DoActionStream>, Status> {
        self.check_token(&request)?;
        let body = self.act(&request.into_inner())?;
        let result = arrow_flight::Result { body: body.into() };
        Ok(Response::new(Box::pin(futures::stream::iter([Ok(result)]))))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(Status::unimplemented("handshake"))
    }

    async fn list_flights(
        &self,
        _: Request<Criteria>,
    ) -> Result<Response<Self::ListFlightsStream>, Status> {
        Err(Status::unimplemented("list_flights"))
    }

    async fn get_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        Err(Status::unimplemented("get_flight_info"))
    }

    async fn poll_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<PollInfo>, Status> {
        Err(Status::unimplemented("poll_flight_info"))
    }

    async fn get_schema(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<SchemaResult>, Status> {
        Err(Status::unimplemented("get_schema"))
    }

    async fn do_get(&self, _: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        Err(Status::unimplemented("do_get"))
    }

    async fn list_actions(
        &self,
        _: Request<Empty>,
    ) -> Result<Response<Self::ListActionsStream>, Status> {
        Err(Status::unimplemented("list_actions"))
    }
}
