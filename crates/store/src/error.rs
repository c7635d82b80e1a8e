//! Errors of journals and outputs.

use caudal_core::{Code, Coded, codes};
use thiserror::Error;

use crate::store::StoreError;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state in memory is no longer the truth: drop it and load again.
    #[error("another process wrote record {number} of {folder}")]
    Fenced { folder: String, number: u64 },
    /// The state that was loaded so far is of no use: drop it and load again.
    #[error("record {number} of {folder} was compacted into a later snapshot while it was loaded")]
    Compacted { folder: String, number: u64 },
    #[error("{name} would make {bytes} bytes; {bytes_max} are the most")]
    TooLarge { name: String, bytes: u64, bytes_max: u64 },
    #[error("{name} is damaged: {reason}")]
    Corrupt { name: String, reason: String },
    #[error("{name} is gone: its session was removed")]
    Gone { name: String },
}

impl Error {
    pub(crate) fn corrupt(name: &str, reason: impl ToString) -> Self {
        Error::Corrupt { name: name.to_string(), reason: reason.to_string() }
    }

    pub(crate) fn gone(name: &str) -> Self {
        Error::Gone { name: name.to_string() }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Store(error) => error.code(),
            Error::Fenced { .. } => codes::FENCED,
            Error::Compacted { .. } => codes::COMPACTED,
            Error::TooLarge { .. } => codes::JOURNAL_TOO_LARGE,
            Error::Corrupt { .. } => codes::OBJECT_DAMAGED,
            Error::Gone { .. } => codes::OBJECT_GONE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Store(error) => error.hint(),
            Error::TooLarge { .. } => Some("divide the session into more --shards".into()),
            Error::Corrupt { .. } => Some("check the disk of the store, and run it again".into()),
            Error::Fenced { .. } | Error::Compacted { .. } | Error::Gone { .. } => None,
        }
    }
}
