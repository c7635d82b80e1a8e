//! A session of this process, as the client wants to see it. Batches pass as they are.

use std::sync::Arc;

use arrow::array::RecordBatch;
use async_trait::async_trait;
use caudal_broker::{Consumer, DeliveryTag};
use caudal_client::{Answer, Error, Service};
use caudal_core::protocol::ResultWhat;
use caudal_core::{Message, QueryId, Source, TableFragment, TableId};
use caudal_gateway::Session;

pub struct InProcess {
    session: Arc<Session>,
    sources: Vec<Vec<Source>>,
}

impl InProcess {
    pub fn new(session: Arc<Session>) -> Self {
        let plan = &session.plan;
        let sources = plan.queries.iter().map(|query| plan.stage(query.root).sources(plan.shards));
        Self { sources: sources.collect(), session }
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

    async fn put(&self, fragment: TableFragment) -> Result<(), Error> {
        self.session.put(fragment).await.map_err(session_error)
    }

    async fn end_table(&self, table: TableId, count: u32) -> Result<(), Error> {
        self.session.end_table(table, count).await.map_err(session_error)
    }

    async fn answer(&self, query: QueryId) -> Result<Box<dyn Answer>, Error> {
        let consumer = self.session.result(query).await.map_err(session_error)?;
        let queue = self.session.queues.result(query);
        Ok(Box::new(Delivered { consumer, queue, last: None }))
    }

    /// The worker is this process: it works, or the run ends with its error.
    async fn waiting_for(&self, _: &[String]) -> Result<Vec<String>, Error> {
        std::future::pending().await
    }
}

/// An answer as its queue delivers it.
struct Delivered {
    consumer: Box<dyn Consumer>,
    queue: String,
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
            if let Some(message) = result_of(Arc::unwrap_or_clone(delivery.message)) {
                return Ok(message);
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

fn result_of(message: Message) -> Option<(ResultWhat, Vec<RecordBatch>)> {
    match message {
        Message::Part(part) => {
            let rows = part.sections.into_iter().flat_map(|section| section.batches).collect();
            Some((ResultWhat::Part { id: part.id, part: part.part, end: part.end }, rows))
        }
        Message::End { source, count } => Some((ResultWhat::End { source, count }, vec![])),
        Message::Failed { failure, .. } => Some((ResultWhat::Failed { failure }, vec![])),
        // Neither is ever sent to a client.
        Message::Baton | Message::Table(_) => None,
    }
}
