//! Why a stage could not be run.

use caudal_core::{Code, Coded, EndConflict, Failure};
use datafusion::error::DataFusionError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    #[error("not enough memory: {0}")]
    Memory(Box<DataFusionError>),
    #[error("{0}")]
    Data(Box<DataFusionError>),
    #[error("fragments that contradict each other: {0}")]
    Conflict(#[from] EndConflict),
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => Error::Memory(Box::new(error)),
            _ => Error::Data(Box::new(error)),
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Memory(_) => "CDL-3001",
            Error::Data(_) => "CDL-3002",
            Error::Conflict(_) => "CDL-3003",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Memory(_) => Some("give it more with --memory, or more --shards".into()),
            Error::Data(_) | Error::Conflict(_) => None,
        }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Failure { code: error.code().to_string(), message: error.to_string() }
    }
}
