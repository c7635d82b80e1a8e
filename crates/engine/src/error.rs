//! Errors of running a stage.

use caudal_core::{Code, Coded, EndConflict, codes};
use caudal_functions::bounded::TooLarge;
use caudal_planner::mistakes::plain;
use datafusion::error::DataFusionError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    #[error("not enough memory: {}", plain::text(.0))]
    Memory(Box<DataFusionError>),
    #[error("a number does not fit into its type: {0}")]
    Overflow(String),
    #[error("{0}")]
    TooLarge(TooLarge),
    #[error("{}", plain::text(.0))]
    Data(Box<DataFusionError>),
    #[error("fragments that contradict each other: {0}")]
    Conflict(#[from] EndConflict),
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) {
            return Error::Memory(Box::new(error));
        }
        if let Some(what) = TooLarge::in_error(&error) {
            return Error::TooLarge(what.clone());
        }
        match plain::overflow(&error) {
            Some(what) => Error::Overflow(what),
            None => Error::Data(Box::new(error)),
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Memory(_) => codes::OUT_OF_MEMORY,
            Error::Data(_) => codes::DATA,
            Error::Conflict(_) => codes::CONTRADICTION,
            Error::Overflow(_) => codes::OVERFLOW,
            Error::TooLarge(_) => codes::FUNCTION_MAKES_TOO_MUCH,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Memory(_) => {
                Some("give it more with --memory, or divide it over more --shards".into())
            }
            Error::Overflow(_) => Some(
                "compute in a wider type: CAST(x AS DECIMAL(38, 0)) or CAST(x AS DOUBLE)".into(),
            ),
            Error::TooLarge(_) => Some(TooLarge::HINT.into()),
            Error::Data(_) | Error::Conflict(_) => None,
        }
    }
}
