//! A session's queues, and what its client puts into them and takes out: the part of a gateway that
//! one process and a cluster have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use bytes::Bytes;
use caudal_broker::{Broker, Consumer, Error, QueueKind, with_backpressure};
use caudal_core::{QueryId, SessionId, ShardId, Source, TableId, limits};
use caudal_protocol::outline::Outline;
use caudal_protocol::{Message, Queues, TableFragment};
use caudal_runtime::failpoint::{self, knob};
use futures::future::try_join_all;

/// An open session.
pub struct Session {
    pub outline: Arc<Outline>,
    pub queues: Queues,
    broker: Arc<dyn Broker>,
    /// Fragments that wait for capacity in their queue.
    held_back: AtomicUsize,
    /// Bytes of results that may be unread.
    results_bytes_max: usize,
}

impl Session {
    /// A session whose queues are there already.
    pub fn resume(id: SessionId, outline: Arc<Outline>, broker: Arc<dyn Broker>) -> Self {
        let (queues, held_back) = (Queues { session: id }, AtomicUsize::new(0));
        let results_bytes_max = limits::RESULT_QUOTA_BYTES;
        Self { outline, queues, broker, held_back, results_bytes_max }
    }

    /// A session whose queues are in this process: makes them, and puts a baton into each shard's.
    pub async fn open(
        id: SessionId,
        outline: Arc<Outline>,
        broker: Arc<dyn Broker>,
        threads: usize,
    ) -> Result<Self, Error> {
        let results_bytes_max = limits::RESULT_MEMORY_BYTES_MAX;
        let session = Self { results_bytes_max, ..Self::resume(id, outline, broker) };
        session.make_queues(threads).await?;
        Ok(session)
    }

    /// Doing it again is harmless: a queue that is there stays, and a second baton is a repetition of
    /// the first.
    pub async fn make_queues(&self, threads: usize) -> Result<(), Error> {
        self.declare(&self.all_queues(threads)).await?;
        failpoint::hit("open.queues");
        let batons = self
            .outline
            .shard_ids()
            .map(async |shard| self.broker.send(&self.queues.shard(shard), Message::Baton).await);
        try_join_all(batons).await?;
        failpoint::hit("open.batons");
        Ok(())
    }

    /// Makes queues again that were lost, and no others: one that nobody has missed yet would be there again, and what was in
    /// it would not.
    pub async fn make_lost_queues(&self, lost: &[String], threads: usize) -> Result<(), Error> {
        let mut queues = self.all_queues(threads);
        queues.retain(|(queue, _)| lost.contains(queue));
        self.declare(&queues).await
    }

    /// Has the owner of a shard publish again what the shard has put out, whoever that is: its baton may be lost, too.
    pub async fn ask_to_republish(&self, shard: ShardId) -> Result<(), Error> {
        let queue = self.queues.shard(shard);
        self.broker.send(&queue, Message::Baton).await?;
        self.broker.send(&queue, Message::Republish).await
    }

    async fn declare(&self, queues: &[(String, QueueKind)]) -> Result<(), Error> {
        let declared = queues.iter().map(|(queue, kind)| self.broker.declare(queue, *kind));
        try_join_all(declared).await.map(drop)
    }

    /// The queues that are not there, and the shards whose queues nobody consumes from.
    pub async fn look_at_queues(&self) -> Result<QueuesSeen, Error> {
        let all = self.queues.all(self.outline.shards, self.outline.queries.len());
        let looks = all.iter().map(async |queue| match self.broker.has_consumer(queue).await {
            Err(Error::NoQueue { .. }) => Ok(None),
            looked => looked.map(Some),
        });
        let looked: Vec<Option<bool>> = try_join_all(looks).await?;
        let missing = all.iter().zip(&looked).filter(|(_, looked)| looked.is_none());
        // The first is that of the fragments.
        let shards = self.outline.shard_ids().zip(&looked[1..]);
        let deserted = shards.filter(|(_, looked)| **looked == Some(false)).map(|(id, _)| id);
        Ok(QueuesSeen {
            missing: missing.map(|(queue, _)| queue.clone()).collect(),
            deserted: deserted.collect(),
        })
    }

    /// Takes a fragment of a table; returns when it is safe.
    pub async fn put(&self, fragment: TableFragment) -> Result<(), Error> {
        let (queue, message) = (&self.queues.map(), Arc::new(Message::Table(fragment)));
        let publish = || self.broker.publish(queue, Arc::clone(&message));
        with_backpressure(self.broker.as_ref(), publish, || HeldBack::one_more(&self.held_back))
            .await
    }

    /// The same for one that is a message already: its rows take no memory while it waits.
    pub async fn put_encoded(&self, message: Bytes) -> Result<(), Error> {
        let queue = &self.queues.map();
        let publish = || self.broker.publish_encoded(queue, message.clone());
        with_backpressure(self.broker.as_ref(), publish, || HeldBack::one_more(&self.held_back))
            .await
    }

    /// Whether fragments wait for capacity in their queue.
    pub fn is_held_back(&self) -> bool {
        self.held_back.load(Ordering::Relaxed) > 0
    }

    /// Tells everybody who waits for the table how many fragments it has.
    ///
    /// A table of none becomes one of a single empty fragment: what a plan has to say about no rows
    /// at all (the grand total of a grouping set, say) is said by the stage that reads the table.
    pub async fn end_table(&self, table: TableId, count: u32) -> Result<(), Error> {
        let outline = self.outline.table(table);
        if count == 0 {
            let batch = RecordBatch::new_empty(Arc::clone(&outline.needs.schema));
            self.put(TableFragment::new(table, 0, batch)).await?;
        }
        let count = count.max(1);
        let source = Source::Table(table);
        let shards = outline.shards.iter().map(|id| self.queues.shard(*id));
        let results = outline.results.iter().map(|id| self.queues.result(*id));
        for queue in shards.chain(results) {
            self.broker.send(&queue, Message::End { source, count }).await?;
            failpoint::hit("end.half");
        }
        Ok(())
    }

    /// The messages of a query's result.
    pub async fn result(&self, query: QueryId) -> Result<Box<dyn Consumer>, Error> {
        self.broker.consume(&self.queues.result(query), limits::PREFETCH_MESSAGES).await
    }

    /// Removes everything of the session; whatever is in flight is gone with it.
    pub async fn close(&self) -> Result<(), Error> {
        for queue in self.queues.all(self.outline.shards, self.outline.queries.len()) {
            self.broker.delete(&queue).await?;
        }
        Ok(())
    }

    fn all_queues(&self, threads: usize) -> Vec<(String, QueueKind)> {
        let fragments = limits::MAP_QUEUE_FRAGMENTS_PER_THREAD * threads;
        let fragments = knob("map_queue_fragments_max", fragments);
        let share = limits::SESSION_QUEUE_MESSAGES_MAX / self.outline.shards.max(1);
        let (least, most) = (limits::SHARD_QUEUE_MESSAGES_MIN, limits::SHARD_QUEUE_MESSAGES_MAX);
        let messages_max = knob("shard_queue_messages_max", share.clamp(least, most));
        let shard = QueueKind::Shard { messages_max };
        let quota = knob("result_quota_bytes", self.results_bytes_max);
        let bytes_max = quota / self.outline.queries.len().max(1);
        let bytes_max =
            bytes_max.max(knob("result_queue_bytes_min", limits::RESULT_QUEUE_BYTES_MIN));
        let result = QueueKind::Result { bytes_max };
        let mut queues = vec![(self.queues.map(), QueueKind::Work { messages_max: fragments })];
        queues.extend(self.outline.shard_ids().map(|id| (self.queues.shard(id), shard)));
        let queries = (0..self.outline.queries.len()).map(QueryId::from);
        queues.extend(queries.map(|query| (self.queues.result(query), result)));
        queues
    }
}

/// What a look at the queues of a session has found.
pub struct QueuesSeen {
    pub missing: Vec<String>,
    pub deserted: Vec<ShardId>,
}

/// Counts a fragment that waits, for as long as it does, however the wait ends.
struct HeldBack<'a>(&'a AtomicUsize);

impl<'a> HeldBack<'a> {
    fn one_more(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for HeldBack<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
