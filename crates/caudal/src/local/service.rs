//! A session of this process, as the client wants to see it. Batches pass as they are.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use caudal_broker::{Consumer, DeliveryTag};
use caudal_client::{Answer, Error, Service};
use caudal_core::{Code, Coded, Failure, QueryId, Source, TableId, codes};
use caudal_gateway::Session;
use caudal_protocol::TableFragment;
use caudal_protocol::calls::{ResultWhat, TableRows};
use caudal_runtime::compute::Stop;
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, JoinError, JoinHandle};

pub struct InProcess {
    session: Arc<Session>,
    sources: Vec<Vec<Source>>,
    /// The session's own, if it has one.
    worker: Option<Worker>,
}

/// A worker that ends with its session.
struct Worker {
    working: Mutex<JoinHandle<Worked>>,
    abort: AbortHandle,
    /// Asked by what it computes without an await point.
    stop: Stop,
}

type Worked = Result<(), caudal_worker::Error>;

/// A worker outlives its session, unless it has failed.
#[derive(Debug, thiserror::Error)]
#[error("the worker ended before its session")]
struct WorkerLeft;

impl Coded for WorkerLeft {
    fn code(&self) -> Code {
        codes::WORKER_LEFT
    }
}

impl InProcess {
    /// A session that is served by a worker of its own.
    pub fn with_worker(session: Arc<Session>, working: JoinHandle<Worked>, stop: Stop) -> Self {
        let worker = Worker { abort: working.abort_handle(), working: Mutex::new(working), stop };
        Self { worker: Some(worker), ..Self::new(session) }
    }

    /// A session that others serve.
    pub fn new(session: Arc<Session>) -> Self {
        let queries = &session.outline.queries;
        let sources = queries.iter().map(|query| query.sources.clone()).collect();
        Self { sources, session, worker: None }
    }
}

impl Worker {
    /// Waits for its end.
    async fn worked(&self) -> Result<(), Error> {
        let ended: Result<Worked, JoinError> = (&mut *self.working.lock().await).await;
        let error = match ended {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(error) => caudal_worker::Error::Panicked(error),
        };
        Err(Error::Session(Box::new(error)))
    }

    fn abort(&self) {
        self.stop.raise();
        self.abort.abort();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.abort();
    }
}

pub fn session_error(error: caudal_broker::Error) -> Error {
    Error::Session(Box::new(error))
}

#[async_trait]
impl Service for InProcess {
    fn sources(&self) -> &[Vec<Source>] {
        &self.sources
    }

    fn refusal(&self, query: QueryId) -> Option<&Failure> {
        self.session.outline.query(query).refused.as_ref()
    }

    async fn put(&self, fragment: TableFragment) -> Result<(), Error> {
        self.session.put(fragment).await.map_err(session_error)
    }

    async fn end_table(&self, table: TableId, count: u32, _: TableRows) -> Result<(), Error> {
        self.session.end_table(table, count).await.map_err(session_error)
    }

    async fn answer(&self, query: QueryId) -> Result<Box<dyn Answer>, Error> {
        let consumer = self.session.result(query).await.map_err(session_error)?;
        let queue = self.session.queues.result(query);
        let columns = Arc::clone(&self.session.outline.query(query).schema);
        Ok(Box::new(Delivered { consumer, queue, columns, last: None }))
    }

    /// The worker is this process: it works, or the run ends with its error.
    async fn waiting_for(&self, _: &[String]) -> Result<Vec<String>, Error> {
        match &self.worker {
            Some(worker) => worker.worked().await?,
            None => std::future::pending().await,
        }
        Err(Error::Session(Box::new(WorkerLeft)))
    }

    /// Returns when the worker has noticed.
    async fn finish(&self) -> Result<(), Error> {
        self.session.close().await.map_err(session_error)?;
        match &self.worker {
            Some(worker) => worker.worked().await,
            None => Ok(()),
        }
    }

    async fn abort(&self) {
        if let Some(worker) = &self.worker {
            worker.abort();
        }
    }
}

/// An answer as its queue delivers it.
struct Delivered {
    consumer: Box<dyn Consumer>,
    queue: String,
    /// As a user calls them: the rows come under the plan's own names.
    columns: SchemaRef,
    last: Option<DeliveryTag>,
}

#[async_trait]
impl Answer for Delivered {
    async fn next(&mut self) -> Result<(ResultWhat, Vec<RecordBatch>), Error> {
        loop {
            let delivery = self.consumer.next().await.map_err(session_error)?;
            let gone = || caudal_broker::Error::NoQueue { queue: self.queue.clone() };
            let delivery = delivery.ok_or_else(gone).map_err(session_error)?;
            self.last = Some(delivery.tag);
            if let Some(what) = ResultWhat::of(&delivery.message) {
                let rows = delivery.message.batches().map(|batch| self.named(batch));
                return Ok((what, rows.collect()));
            }
        }
    }

    async fn taken(&mut self) -> Result<(), Error> {
        match self.last.take() {
            Some(tag) => self.consumer.ack(tag).await.map_err(session_error),
            None => Ok(()),
        }
    }
}

impl Delivered {
    fn named(&self, batch: &RecordBatch) -> RecordBatch {
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = batch.schema();
        let fields = schema.fields().iter().zip(self.columns.fields());
        let fields = fields.map(|(field, named)| field.as_ref().clone().with_name(named.name()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new_with_options(schema, batch.columns().to_vec(), &rows)
            .expect("the same columns under other names")
    }
}
