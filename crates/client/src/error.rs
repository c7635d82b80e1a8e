//! Reasons why a run ended without its answers.

use caudal_core::{Code, Coded, Failure, TableId, codes};
use thiserror::Error;
use tokio::task::JoinError;

use crate::remote;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Source(#[from] caudal_source::Error),
    /// Of a session in this process.
    #[error("{0}")]
    Session(Box<dyn Coded + Send + Sync>),
    #[error(transparent)]
    Remote(#[from] remote::Error),
    #[error("a task of the client died: {0}")]
    Panicked(JoinError),
    #[error("table {table} has more than 2^32 fragments")]
    TooLarge { table: TableId },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Source(error) => error.code(),
            Error::Session(error) => error.code(),
            Error::Remote(error) => error.code(),
            Error::Panicked(_) => codes::CLIENT_TASK_DIED,
            Error::TooLarge { .. } => codes::TOO_MANY_FRAGMENTS,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Source(error) => error.hint(),
            Error::Session(error) => error.hint(),
            Error::Remote(error) => error.hint(),
            Error::Panicked(_) | Error::TooLarge { .. } => None,
        }
    }

    fn excerpt(&self) -> Option<String> {
        match self {
            Error::Remote(error) => error.excerpt(),
            _ => None,
        }
    }

    fn failures(&self) -> Vec<Failure> {
        match self {
            Error::Remote(error) => error.failures(),
            other => vec![Failure::of(other)],
        }
    }
}
