//! Sessions, as their clients see them: open, upload, read, close.

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_broker::{Broker, Consumer, QueueKind};
use caudal_core::{Message, QueryId, Queues, SessionId, Source, TableFragment, TableId, limits};
use caudal_planner::SessionPlan;

pub use caudal_broker::Error;

/// An open session.
pub struct Session {
    pub plan: Arc<SessionPlan>,
    pub queues: Queues,
    broker: Arc<dyn Broker>,
}

impl Session {
    /// Makes the session's queues and puts a baton into each shard's.
    pub async fn open(
        id: SessionId,
        plan: Arc<SessionPlan>,
        broker: Arc<dyn Broker>,
        threads: usize,
    ) -> Result<Self, Error> {
        let session = Self { plan, queues: Queues { session: id }, broker };
        for (queue, kind) in session.all_queues(threads) {
            session.broker.declare(&queue, kind).await?;
        }
        for shard in session.plan.shard_ids() {
            session.broker.send(&session.queues.shard(shard), Message::Baton).await?;
        }
        Ok(session)
    }

    /// Takes a fragment of a table; returns when it is safe.
    pub async fn put(&self, fragment: TableFragment) -> Result<(), Error> {
        self.broker.send(&self.queues.map(), Message::Table(fragment)).await
    }

    /// Tells everybody who waits for the table how many fragments it has.
    ///
    /// A table of none becomes one of a single empty fragment: what a plan has to say about no rows
    /// at all (the grand total of a grouping set, say) is said by the stage that reads the table.
    pub async fn end_table(&self, table: TableId, count: u32) -> Result<(), Error> {
        if count == 0 {
            let batch = RecordBatch::new_empty(Arc::clone(&self.plan.table(table).schema));
            self.put(TableFragment::new(table, 0, batch)).await?;
        }
        let count = count.max(1);
        let source = Source::Table(table);
        for shard in self.plan.shards_reading(table) {
            self.broker.send(&self.queues.shard(shard), Message::End { source, count }).await?;
        }
        for query in self.plan.results_reading(table) {
            self.broker.send(&self.queues.result(query), Message::End { source, count }).await?;
        }
        Ok(())
    }

    /// The messages of a query's result.
    pub async fn result(&self, query: QueryId) -> Result<Box<dyn Consumer>, Error> {
        self.broker.consume(&self.queues.result(query), limits::PREFETCH_MESSAGES).await
    }

    /// Removes everything of the session; whatever is in flight is gone with it.
    pub async fn close(&self) -> Result<(), Error> {
        for (queue, _) in self.all_queues(1) {
            self.broker.delete(&queue).await?;
        }
        Ok(())
    }

    fn all_queues(&self, threads: usize) -> Vec<(String, QueueKind)> {
        let fragments = limits::MAP_QUEUE_FRAGMENTS_PER_THREAD * threads;
        let shard = QueueKind::Shard { messages_max: limits::SHARD_QUEUE_MESSAGES_MAX };
        let result = QueueKind::Result { bytes_max: limits::RESULT_QUOTA_BYTES };
        let mut queues = vec![(self.queues.map(), QueueKind::Work { messages_max: fragments })];
        queues.extend(self.plan.shard_ids().map(|id| (self.queues.shard(id), shard)));
        let queries = (0..self.plan.queries.len()).map(QueryId::from);
        queues.extend(queries.map(|query| (self.queues.result(query), result)));
        queues
    }
}
