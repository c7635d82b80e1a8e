//! The worker service: maps fragments as they come and owns shards.
//!
//! [`Worker::run`] lives as long as its session's queues. Whatever it has taken from a queue it
//! acknowledges only when what became of it is safe, so it may be dropped at any moment.

mod error;
mod map;
mod output;
mod shard;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_broker::Broker;
use caudal_core::{Attempt, Failure, Message, QueryId, Queues};
use caudal_engine::Engine;
use tokio::task::JoinSet;

pub use error::Error;

/// What the tasks of a worker share.
#[derive(Clone)]
pub struct Worker {
    pub broker: Arc<dyn Broker>,
    pub engine: Arc<Engine>,
    pub queues: Queues,
    /// Fragments mapped at the same time.
    pub map_tasks: usize,
    pub counts: Arc<Counts>,
}

/// What a worker has done, for reports and for tests that must see a fault happen.
#[derive(Debug, Default)]
pub struct Counts {
    pub mapped: AtomicU64,
    pub redelivered: AtomicU64,
    pub duplicates: AtomicU64,
}

impl Worker {
    /// Serves the session until its queues are gone.
    pub async fn run(self) -> Result<(), Error> {
        let mut tasks = JoinSet::new();
        for _ in 0..self.map_tasks {
            tasks.spawn(map::serve(self.clone()));
        }
        for shard in self.engine.plan.shard_ids() {
            tasks.spawn(shard::serve(self.clone(), shard));
        }
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(Error::Panicked)??;
        }
        Ok(())
    }

    async fn fail(&self, query: QueryId, failure: Failure) -> Result<(), Error> {
        let message = Message::Failed { query, failure };
        Ok(self.broker.send(&self.queues.result(query), message).await?)
    }

    fn new_attempt(&self) -> Attempt {
        Attempt(fastrand::u64(..))
    }

    fn count(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}
