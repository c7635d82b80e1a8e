//! A client's run: its tables go up as numbered fragments, its answers come back.

mod error;
pub mod progress;
mod results;
mod upload;

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::{Failure, QueryId, TableId};
use caudal_csv::{Reader, Reject};
use caudal_gateway::Session;
use tokio::sync::mpsc;

pub use error::Error;
pub use progress::Progress;

/// What a run tells whoever started it, as it happens.
#[derive(Debug)]
pub enum Event {
    /// Rows of a query's answer, in its order where it has one.
    Rows(QueryId, RecordBatch),
    /// A query's answer is complete, or will never come.
    Done(QueryId, Result<(), Failure>),
    /// Rows of a table that do not fit it.
    Rejected(TableId, Vec<Reject>),
}

/// A table to send.
pub struct Upload {
    pub table: TableId,
    pub reader: Arc<Reader>,
}

/// Events that may wait for whoever handles them.
const EVENTS_AHEAD: usize = 64;

/// Sends the tables, one after the other, and hands every event to `handle` until all queries are
/// done. Returns the first error of the upload, or of `handle`.
pub async fn run<E: From<Error>>(
    session: Arc<Session>,
    uploads: Vec<Upload>,
    tasks: usize,
    progress: Arc<Progress>,
    mut handle: impl FnMut(Event) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, mut events) = mpsc::channel(EVENTS_AHEAD);
    let mut unanswered = session.plan.queries.len();
    for query in (0..unanswered).map(QueryId::from) {
        tokio::spawn(results::read(Arc::clone(&session), query, sender.clone()));
    }
    let mut uploading = tokio::spawn(upload::all(session, uploads, tasks, progress, sender));
    let mut uploaded = false;
    while unanswered > 0 || !uploaded {
        tokio::select! {
            Some(event) = events.recv() => {
                unanswered -= usize::from(matches!(event, Event::Done(..)));
                handle(event)?;
            }
            ended = &mut uploading, if !uploaded => {
                ended.map_err(Error::Panicked)??;
                uploaded = true;
            }
        }
    }
    // What the upload said last may still be waiting.
    while let Ok(event) = events.try_recv() {
        handle(event)?;
    }
    Ok(())
}
