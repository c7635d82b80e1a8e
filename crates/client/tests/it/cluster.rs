//! Common state of a test's gateways: the session, and what happened to it.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use arrow::array::RecordBatch;
use caudal_core::{SessionId, Source};
use caudal_protocol::calls::{
    EndRequest, OpenReply, OpenRequest, QueryShape, ResultWhat, Status as SessionStatus, TableNeeds,
};
use caudal_protocol::schema;
use tokio::sync::watch;
use tonic::Status;

/// A message of an answer.
pub type Message = (ResultWhat, Option<RecordBatch>);

pub struct Cluster {
    state: Mutex<State>,
    pub status: watch::Sender<SessionStatus>,
    /// Ends all attach streams with this, when it is set.
    pub dismissed: watch::Sender<Option<Status>>,
}

#[derive(Default)]
pub struct State {
    pub queries: Vec<Query>,
    pub token: Option<String>,
    /// Refusals of the next calls, each with its action.
    pub refusals: VecDeque<(&'static str, Status)>,
    pub nonces: HashSet<String>,
    pub opens: usize,
    /// Gateways that the client attached to, in order.
    pub attaches: Vec<SocketAddr>,
    pub closes: usize,
    pub cancels: usize,
    pub ends: Vec<EndRequest>,
    /// Number of times that each fragment came, by table and number, and its rows.
    pub fragments: BTreeMap<(u32, u32), (usize, RecordBatch)>,
    /// Fragments that came again with other rows.
    pub changed: usize,
    pub unacked_max: usize,
    pub results_sent: usize,
}

/// A query and what remains of its answer: what is acknowledged is not sent again.
pub struct Query {
    pub schema: arrow::datatypes::SchemaRef,
    pub sources: Vec<Source>,
    pub messages: BTreeMap<usize, Message>,
}

impl Cluster {
    pub fn with_queries(queries: Vec<Query>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State { queries, ..State::default() }),
            status: watch::Sender::new(SessionStatus::default()),
            dismissed: watch::Sender::new(None),
        })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn open(&self, request: OpenRequest) -> OpenReply {
        let mut state = self.state();
        state.opens += 1;
        state.nonces.insert(request.nonce.clone());
        let tables = request.tables.into_iter().map(|table| TableNeeds {
            columns: (0..schema::decode(&table.schema).unwrap().fields().len()).collect(),
            needed: true,
            name: table.name,
            schema: Arc::new(schema::decode(&table.schema).unwrap()),
            rows: None,
        });
        let queries = request.queries.into_iter().zip(&state.queries).map(|(entry, query)| {
            let schema = Arc::clone(&query.schema);
            QueryShape { name: entry.name, schema, sources: query.sources.clone(), refused: None }
        });
        OpenReply {
            session: SessionId(format!("s-{}", request.nonce)),
            tables: tables.collect(),
            queries: queries.collect(),
            fingerprint: "0".to_string(),
        }
    }
}

impl State {
    /// Refusal of an action, if it is to be refused.
    pub fn refusal(&mut self, action: &str) -> Option<Status> {
        let at = self.refusals.iter().position(|(refused, _)| *refused == action)?;
        self.refusals.remove(at).map(|(_, status)| status)
    }

    /// The rows of a table, all its fragments in order; each fragment once.
    pub fn rows(&self, table: u32) -> usize {
        self.of_table(table).map(|(_, batch)| batch.num_rows()).sum()
    }

    /// Number of times that each fragment of a table came.
    pub fn times(&self, table: u32) -> Vec<usize> {
        self.of_table(table).map(|(times, _)| *times).collect()
    }

    fn of_table(&self, table: u32) -> impl Iterator<Item = &(usize, RecordBatch)> {
        self.fragments.range((table, 0)..=(table, u32::MAX)).map(|(_, arrived)| arrived)
    }
}
