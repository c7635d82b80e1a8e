//! Reasons why a session has no plan.

use caudal_core::{Code, Coded, Failure, codes};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    /// Not one query can be answered; why, of each.
    #[error("{}", .0.iter().map(|failure| failure.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Failure>),
    /// The session itself is at fault.
    #[error(transparent)]
    Failed(Failure),
    #[error("{what}: planning it takes more than {} MiB", .bytes_max >> 20)]
    TooLarge { what: String, bytes_max: u64 },
    #[error("{what}: it is nested too deeply to be planned")]
    TooDeep { what: String },
    #[error("{what}: planning it takes more than {} s", *.ms as f64 / 1000.0)]
    TooSlow { what: String, ms: u128 },
    #[error("{what}: its planner {how}")]
    Died { what: String, how: String },
    #[error("gateway {gateway} has no planner to spare")]
    Busy { gateway: String },
    #[error("gateway {gateway} cannot start a planner: {reason}")]
    CannotStart { gateway: String, reason: String },
    #[error("a session of more than {bytes_max} bytes")]
    RequestTooLarge { bytes_max: usize },
}

impl From<caudal_planner::Error> for Error {
    fn from(error: caudal_planner::Error) -> Self {
        match error.refusals() {
            Some(refusals) => Error::Refused(refusals),
            None => Error::Failed(Failure::of(&error)),
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Refused(failures) => {
                failures.first().map_or(codes::INVALID_QUERY, |failure| failure.code)
            }
            Error::Failed(failure) => failure.code,
            Error::TooLarge { .. } => codes::PLANNING_TOO_LARGE,
            Error::TooDeep { .. } => codes::SYNTAX,
            Error::TooSlow { .. } => codes::PLANNING_TOO_SLOW,
            Error::Died { .. } => codes::PLANNER_FAILED,
            Error::Busy { .. } => codes::PLANNERS_BUSY,
            Error::CannotStart { .. } => codes::PLANNER_CANNOT_START,
            Error::RequestTooLarge { .. } => codes::BATCH_TOO_LARGE,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Refused(failures) => return failures.first()?.hint.clone(),
            Error::Failed(failure) => return failure.hint.clone(),
            Error::TooLarge { .. } => {
                "constants are computed before any row is read: make them smaller"
            }
            Error::TooDeep { .. } => "IN (...) or a table may be longer than an expression",
            Error::TooSlow { .. } => "divide it, or put what it lists into a table",
            Error::Died { .. } => "the gateway's log says more: please report it, with the query",
            Error::Busy { .. } => "try again soon, or at another gateway",
            Error::CannotStart { .. } => "its machine may be out of memory or of processes",
            Error::RequestTooLarge { .. } => "open several sessions",
        };
        Some(hint.to_string())
    }

    fn excerpt(&self) -> Option<String> {
        match self {
            Error::Refused(failures) => failures.first()?.excerpt.clone(),
            Error::Failed(failure) => failure.excerpt.clone(),
            _ => None,
        }
    }
}
