//! Why a worker stopped serving a session.

use caudal_core::{Code, Coded};
use thiserror::Error;
use tokio::task::JoinError;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Broker(#[from] caudal_broker::Error),
    #[error("a task of the worker died: {0}")]
    Panicked(JoinError),
}

impl Error {
    /// The session was closed under the worker: the ordinary end.
    pub fn is_session_gone(&self) -> bool {
        matches!(self, Error::Broker(caudal_broker::Error::NoQueue { .. }))
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Broker(error) => error.code(),
            Error::Panicked(_) => "CDL-5001",
        }
    }
}
