//! The worker service: maps fragments as they come and owns shards.
//!
//! - [`Worker`]: one session's work. Lasts as long as the session's queues, or until it is told to
//!   stop. Whatever it has taken from a queue it acknowledges only when what became of it is safe, so
//!   it may end at any moment;
//! - [`node`]: a process that serves every session of a cluster.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "a simulation runs it"))]

mod at_work;
mod durable;
mod error;
mod map;
mod mutants;
pub mod node;
mod output;
mod record;
mod serve;
mod shard;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use caudal_broker::Broker;
use caudal_core::{Attempt, QueryId, limits};
use caudal_engine::Engine;
use caudal_protocol::{Failure, Message, Queues, wire};
use caudal_runtime::compute::Place;
use caudal_runtime::{Level, task};
use caudal_store::SessionState;
use tokio::sync::RwLock;
use tokio::task::JoinSet;

pub use at_work::AtWork;
use at_work::Ongoing;
pub use caudal_engine::{Memory, memory};
pub use durable::Durable;
pub use error::Error;
use serve::Role;

/// A worker of one session, shared by its tasks.
#[derive(Clone)]
pub struct Worker {
    pub broker: Arc<dyn Broker>,
    pub engine: Arc<Engine>,
    pub queues: Queues,
    /// Fragments mapped at the same time.
    pub map_tasks: usize,
    pub counts: Arc<Counts>,
    pub at_work: Arc<AtWork>,
    /// The records that survive this process; none where nothing could outlive it.
    pub durable: Option<Durable>,
    /// Raised once the worker is to leave.
    pub stop: Level,
    /// Where fragments are mapped and gathered; stages are completed apart.
    pub place: Place,
    /// Held by fragments that are being run; all of it by one that has to run alone.
    pub alone: Arc<RwLock<()>>,
    /// Result queues of queries whose failure is safe in them: nothing else is worth sending there.
    pub failed: Arc<Mutex<BTreeSet<String>>>,
}

/// Counters of a worker, for tests and simulations that must see a fault happen.
#[derive(Debug, Default)]
pub struct Counts {
    pub mapped: AtomicU64,
    pub redelivered: AtomicU64,
    pub duplicates: AtomicU64,
    pub takeovers: AtomicU64,
}

impl Worker {
    /// Serves the session until it is over, or the worker is to leave.
    pub async fn run(self) -> Result<(), Error> {
        let mut tasks = JoinSet::new();
        for _ in 0..self.map_tasks {
            task::spawn_on(&mut tasks, serve::serve(self.clone(), Role::Map));
        }
        for shard in self.engine.plan.shard_ids() {
            task::spawn_on(&mut tasks, serve::serve(self.clone(), Role::Shard(shard)));
        }
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(Error::Panicked)??;
        }
        Ok(())
    }

    /// Says why a query fails. First where it cannot be lost with a queue: shards complete without the rows that are
    /// missing for it, and what they make must not pass for an answer.
    async fn fail(&self, query: QueryId, failure: Failure) -> Result<(), Error> {
        if let Some(durable) = &self.durable {
            durable.records.create_failure(query, &failure).await?;
        }
        self.send(&self.queues.result(query), Message::Failed { query, failure }).await?;
        self.has_failed(query);
        Ok(())
    }

    /// The failure of a query is safe.
    fn has_failed(&self, query: QueryId) {
        self.failed().insert(self.queues.result(query));
    }

    /// Whether what goes to this queue is of a query that is known to have failed.
    fn is_failed(&self, queue: &str) -> bool {
        self.failed().contains(queue)
    }

    /// No failure is known to be safe any more.
    fn forget_failures(&self) {
        self.failed().clear();
    }

    fn failed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        // It is never left half changed.
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what is computed until the result is dropped.
    fn begin(&self, what: String) -> Ongoing {
        self.at_work.begin(&self.queues.session, what)
    }

    /// Publishes a message, and waits as long as its queue is full, or lost.
    async fn send(&self, queue: &str, message: Message) -> Result<(), Error> {
        if self.durable.is_none() {
            return Ok(self.broker.send(queue, message).await?);
        }
        self.send_encoded(queue, wire::encode(&message)?).await
    }

    /// The same for one that is encoded already. A queue that the broker has lost is made again by a gateway, or the session
    /// is ended: to give up here would be to do it all again.
    async fn send_encoded(&self, queue: &str, message: Bytes) -> Result<(), Error> {
        loop {
            let sent = self.broker.send_encoded(queue, message.clone()).await.map_err(Error::from);
            match (sent, &self.durable) {
                (Err(error), Some(durable)) if error.is_queue_gone() => {
                    if matches!(durable.records.state().await, Ok(SessionState::Over)) {
                        return Err(error);
                    }
                    serve::back_off(limits::WORKER_LATER_FAILURES).await;
                }
                (sent, _) => return sent,
            }
        }
    }

    /// Returns when the worker is to leave.
    async fn stopped(&self) {
        self.stop.above(0).await;
    }

    fn is_stopped(&self) -> bool {
        self.stop.get() > 0
    }

    fn new_attempt(&self) -> Attempt {
        mutants::attempts_mixed(Attempt(fastrand::u64(..)))
    }

    fn count(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}
