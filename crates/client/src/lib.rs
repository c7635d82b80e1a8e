//! A client's run: its tables go up as numbered fragments, its answers come back.
//!
//! A [`Run`] knows a session as a [`Service`]: [`Remote`] is one on a cluster, the crate `caudal` has one in
//! this process. Either way a fragment keeps its number however often it is sent, and
//! a message of an answer counts once however often it comes.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "a simulation runs it"))]

mod chunks;
mod counters;
mod error;
mod gather;
pub mod remote;
mod resend;
mod results;
mod run;
pub mod service;
mod task;
mod upload;

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::{QueryId, TableId};
use caudal_protocol::Failure;
use caudal_source::{Note, Reject, TableSource};

pub use counters::{TableCounters, UploadCounters};
pub use error::Error;
pub use remote::Remote;
pub use run::{Run, run};
pub use service::{Answer, Service};

/// Event of a run, reported as it happens.
#[derive(Debug)]
pub enum Event {
    /// Rows of a query's answer, in its order where it has one.
    Rows(QueryId, RecordBatch),
    /// A query's answer is complete, or will never come.
    Done(QueryId, Result<(), Failure>),
    /// Rows of a table that do not fit it.
    Rejected(TableId, Vec<Reject>),
    /// What there is to say of a table once all of it has been read, besides those rows.
    Noted(TableId, Vec<Note>),
    /// Description of what the session waits for; empty, once it goes on.
    Waiting(Vec<String>),
}

/// A table to send.
pub struct Upload {
    pub table: TableId,
    pub source: Arc<dyn TableSource>,
}
