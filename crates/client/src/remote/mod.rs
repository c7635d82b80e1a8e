//! A session on a cluster, through whichever of its gateways answers.
//!
//! A client that loses its gateway goes on at another where it was: [`gateways`] finds one, `put` sends
//! again what was not acknowledged, `answer` reads on, `attach` says that the client is there.

mod answer;
mod attach;
mod error;
mod flight;
mod gateways;
mod known;
mod line;
mod put;
mod refusal;
mod settings;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use arrow_flight::FlightData;
use async_trait::async_trait;
use caudal_core::{QueryId, SessionId, Source, TableId, limits};
use caudal_protocol::calls::{
    EndRequest, OpenReply, OpenRequest, PutBatch, QueryShape, SessionEntry, SessionRequest,
    SessionsReply, StreamCommand, TableNeeds, TableRows,
};
use caudal_protocol::{Failure, TableFragment};
use caudal_runtime::time::timeout;
use tokio::sync::mpsc;

use self::answer::RemoteAnswer;
use self::gateways::Gateways;
use self::known::Known;
use self::put::Put;
use crate::task::Task;
use crate::{Answer, Service};

pub use self::error::{Error, Tried};
pub use self::line::{Dial, Line};
pub use self::refusal::Refusal;
pub use self::settings::Settings;

/// Longest time that ending a session may keep the client that is done with it.
const CLOSE_MAX: Duration = Duration::from_millis(limits::CLOSE_MS_MAX);
const CANCEL_MAX: Duration = Duration::from_millis(limits::CANCEL_MS_MAX);

/// An open session.
pub struct Remote {
    pub session: SessionId,
    pub tables: Vec<TableNeeds>,
    /// The columns of each query's answer, or why there will be none.
    pub schemas: Vec<Result<SchemaRef, Failure>>,
    sources: Vec<Vec<Source>>,
    gateways: Arc<Gateways>,
    known: Arc<Known>,
    uploads: Mutex<HashMap<TableId, Uploading>>,
    attached: Task<()>,
}

/// A table on its way.
struct Uploading {
    fragments: mpsc::Sender<FlightData>,
    task: Task<Result<(), Error>>,
}

/// A nonce for an [`OpenRequest`].
pub fn nonce() -> String {
    format!("{:032x}", fastrand::u128(..))
}

/// The sessions of the token.
pub async fn sessions(settings: &Settings) -> Result<Vec<SessionEntry>, Error> {
    let reply = Gateways::new(settings)?.action("sessions", &serde_json::json!({})).await?;
    Ok(reply.read::<SessionsReply>()?.sessions)
}

/// Ends a session, whoever opened it.
pub async fn cancel(settings: &Settings, session: SessionId) -> Result<(), Error> {
    Gateways::new(settings)?.action("cancel", &SessionRequest { session }).await?;
    Ok(())
}

impl Remote {
    /// Opens a session. Whichever gateways die meanwhile, it is one session: its nonce says so.
    pub async fn open(settings: &Settings, request: &OpenRequest) -> Result<Self, Error> {
        let gateways = Arc::new(Gateways::new(settings)?);
        let reply = gateways.action("open", request).await?;
        let OpenReply { session, tables, queries, .. } = reply.read()?;
        if tables.len() != request.tables.len() || queries.len() != request.queries.len() {
            return Err(reply.garbled(&"it answers about other tables or queries"));
        }
        let refusals: Vec<_> = queries.iter().filter_map(|query| query.refused.clone()).collect();
        if !queries.is_empty() && refusals.len() == queries.len() {
            return Err(Error::Unanswerable(refusals));
        }
        let known = Arc::new(Known::default());
        let keep = attach::keep(Arc::clone(&gateways), session.clone(), Arc::clone(&known));
        let schema = |query: &QueryShape| match &query.refused {
            None => Ok(Arc::clone(&query.schema)),
            Some(refusal) => Err(refusal.clone()),
        };
        Ok(Self {
            session,
            tables,
            schemas: queries.iter().map(schema).collect(),
            sources: queries.into_iter().map(|query| query.sources).collect(),
            gateways,
            known,
            uploads: Mutex::default(),
            attached: Task::spawn(keep),
        })
    }

    /// Has everything of the session removed. Where no gateway hears it, they will notice that the
    /// client is gone.
    pub async fn close(&self) {
        self.leave("close", CLOSE_MAX).await;
    }

    /// Ends the session at once, whatever it is doing.
    pub async fn cancel(&self) {
        self.leave("cancel", CANCEL_MAX).await;
    }

    async fn leave(&self, action: &str, max: Duration) {
        self.attached.abort();
        let request = SessionRequest { session: self.session.clone() };
        match timeout(max, self.gateways.action(action, &request)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(action, %error, "session request failed"),
            Err(_) => tracing::warn!(action, "no gateway heard the session request"),
        }
    }

    fn encode(&self, fragment: TableFragment) -> Result<FlightData, Error> {
        let TableFragment { table, number, batch, .. } = fragment;
        let TableNeeds { name, schema, .. } = &self.tables[table.index()];
        let unfit = |error: caudal_protocol::ipc::Error| {
            let reason = error.to_string();
            Error::Unfit { table: name.clone(), number, reason }
        };
        let (encoded, encodings) = flight::rows(batch, schema).map_err(unfit)?;
        let metadata = serde_json::to_vec(&PutBatch { number, encodings }).expect("plain data");
        let bytes = encoded.data_header.len() + encoded.data_body.len() + metadata.len();
        let bytes_max = limits::WIRE_BYTES_MAX - limits::FRAGMENT_ENVELOPE_BYTES_MAX;
        if bytes > bytes_max {
            let table = name.clone();
            return Err(Error::FragmentTooLarge { table, number, bytes, bytes_max });
        }
        Ok(encoded.with_app_metadata(metadata))
    }

    /// Channel for the fragments of a table; the first one opens it.
    fn uploading(&self, table: TableId) -> mpsc::Sender<FlightData> {
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.entry(table).or_insert_with(|| self.start(table)).fragments.clone()
    }

    fn start(&self, table: TableId) -> Uploading {
        let (fragments, receiver) = mpsc::channel(1);
        let stream = StreamCommand::Table { session: self.session.clone(), table };
        let put = Put {
            gateways: Arc::clone(&self.gateways),
            command: flight::table_command(&stream, &self.tables[table.index()].schema),
            fragments: receiver,
            unacked: VecDeque::new(),
        };
        let task = Task::spawn(put.run());
        Uploading { fragments, task }
    }

    /// Outcome of the upload of a table. Told once: an error fails the whole run.
    async fn finished(&self, table: TableId) -> Result<(), crate::Error> {
        let uploading = self.uploads.lock().unwrap_or_else(PoisonError::into_inner).remove(&table);
        let Some(Uploading { fragments, task }) = uploading else { return Ok(()) };
        drop(fragments);
        Ok(task.join().await.map_err(crate::Error::Panicked)??)
    }
}

#[async_trait]
impl Service for Remote {
    fn sources(&self) -> &[Vec<Source>] {
        &self.sources
    }

    fn refusal(&self, query: QueryId) -> Option<&Failure> {
        self.schemas[query.index()].as_ref().err()
    }

    fn fragment_bytes(&self) -> usize {
        limits::CLUSTER_FRAGMENT_BYTES
    }

    async fn put(&self, fragment: TableFragment) -> Result<(), crate::Error> {
        let table = fragment.table;
        let fragment = self.encode(fragment)?;
        match self.uploading(table).send(fragment).await {
            Ok(()) => Ok(()),
            Err(_) => self.finished(table).await,
        }
    }

    async fn end_table(
        &self,
        table: TableId,
        count: u32,
        rows: TableRows,
    ) -> Result<(), crate::Error> {
        self.finished(table).await?;
        let request = EndRequest { session: self.session.clone(), table, count, rows: Some(rows) };
        self.gateways.action("end", &request).await?;
        Ok(())
    }

    async fn answer(&self, query: QueryId) -> Result<Box<dyn Answer>, crate::Error> {
        let command = StreamCommand::Result { session: self.session.clone(), query };
        let gateways = Arc::clone(&self.gateways);
        Ok(Box::new(RemoteAnswer { gateways, command, stream: None }))
    }

    async fn waiting_for(&self, known: &[String]) -> Result<Vec<String>, crate::Error> {
        Ok(self.known.waits_for_other_than(known).await?)
    }

    async fn resend(&self, done: u64) -> u64 {
        self.known.resend_above(done).await
    }

    async fn finish(&self) -> Result<(), crate::Error> {
        self.close().await;
        Ok(())
    }

    async fn abort(&self) {
        self.cancel().await;
    }
}
