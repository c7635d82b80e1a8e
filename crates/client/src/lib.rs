//! A client's run: its tables go up as numbered fragments, its answers come back.
//!
//! [`run`] knows a session as a [`Service`]: [`Remote`] is one on a cluster, `caudal-local` has one in
//! this process. Either way a fragment keeps its number however often it is sent, and
//! a message of an answer counts once however often it comes.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "no simulation runs tests"))]

mod error;
mod gather;
pub mod progress;
pub mod remote;
mod results;
pub mod service;
mod task;
mod upload;

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::{QueryId, TableId};
use caudal_csv::{Reader, Reject};
use caudal_protocol::Failure;
use caudal_runtime::task::spawn_on;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use error::Error;
pub use progress::Progress;
pub use remote::Remote;
pub use service::{Answer, Service};

/// What a run tells whoever started it, as it happens.
#[derive(Debug)]
pub enum Event {
    /// Rows of a query's answer, in its order where it has one.
    Rows(QueryId, RecordBatch),
    /// A query's answer is complete, or will never come.
    Done(QueryId, Result<(), Failure>),
    /// Rows of a table that do not fit it.
    Rejected(TableId, Vec<Reject>),
    /// What the session waits for, in words; nothing, once it goes on.
    Waiting(Vec<String>),
}

/// A table to send.
pub struct Upload {
    pub table: TableId,
    pub reader: Arc<Reader>,
}

/// Events that may wait for whoever handles them.
const EVENTS_AHEAD: usize = 64;

/// Sends the tables, one after the other, and hands every event to `handle` until all queries are
/// done. Returns the first error of the upload, of the session, or of `handle`.
pub async fn run<E: From<Error>>(
    service: Arc<dyn Service>,
    uploads: Vec<Upload>,
    readers: usize,
    progress: Arc<Progress>,
    mut handle: impl FnMut(Event) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, mut events) = mpsc::channel(EVENTS_AHEAD);
    // Dropped with the run, whatever ends it: no task outlives what it works for.
    let mut tasks = JoinSet::new();
    for query in (0..service.sources().len()).map(QueryId::from) {
        spawn_on(&mut tasks, results::read(Arc::clone(&service), query, sender.clone()));
    }
    let uploading = upload::all(Arc::clone(&service), uploads, readers, progress, sender);
    spawn_on(&mut tasks, uploading);
    let mut known = vec![];
    loop {
        tokio::select! {
            biased;
            event = events.recv() => match event {
                Some(event) => handle(event)?,
                // Every task has ended, and all that they said is handled.
                None => break,
            },
            Some(ended) = tasks.join_next() => ended.map_err(Error::Panicked)??,
            waiting = service.waiting_for(&known) => {
                known = waiting?;
                handle(Event::Waiting(known.clone()))?;
            }
        }
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(Error::Panicked)??;
    }
    Ok(())
}
