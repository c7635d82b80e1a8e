//! Reasons why there is no answer.

use std::path::Path;

use caudal_client::remote;
use caudal_core::error::Kind;
use caudal_core::{Code, Coded, Failure, codes};
use datafusion::error::DataFusionError;

/// Reason why there is no answer: what happened, with a stable code ([`Coded::code`]) and what to do about it
/// ([`Coded::hint`]).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not one of the queries can be answered: why, query by query.
    #[error("{}", .0.iter().map(|refusal| refusal.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Failure>),
    /// A query failed while it ran.
    #[error("{query}: {}", .failure.message)]
    Failed {
        /// The query's name.
        query: String,
        /// The failure, with its code.
        failure: Failure,
    },
    /// The tables or queries together are no session.
    #[error(transparent)]
    Plan(caudal_planner::Error),
    /// A table's files cannot be read, or are not what they should be.
    #[error(transparent)]
    Files(#[from] caudal_source::Error),
    /// A suite is not one, or has no such query or parameter; or a parameter has two values.
    #[error(transparent)]
    Suite(#[from] caudal_suite::Error),
    /// No file has a name that matches.
    #[error("table {table}: {}", no_files(.pattern))]
    NoFiles {
        /// The table's name.
        table: String,
        /// Pattern that no file matches.
        pattern: String,
    },
    /// What comes once would be two tables.
    #[error("{input} is table {first}, and cannot be table {second} as well: it comes once")]
    OneInput {
        /// Standard input, or the name of a pipe.
        input: String,
        /// The table that it is.
        first: String,
        /// The table that it was to be.
        second: String,
    },
    /// The cluster cannot be reached, or does not do what it was asked.
    #[error(transparent)]
    Cluster(remote::Error),
    /// The workers of a cluster have memory of their own.
    #[error("a bound on memory says nothing to a cluster")]
    MemoryOfCluster,
    /// [`Session::timeout`](crate::Session::timeout) is over.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(std::time::Duration),
    /// DataFusion alone does not answer a query that it was to be compared with.
    #[error("DataFusion cannot answer {query}: {source}")]
    Oracle {
        /// The query's name.
        query: String,
        /// DataFusion's error.
        source: DataFusionError,
    },
    /// The engine in this process could not be started.
    #[error("cannot start the engine: {0}")]
    Engine(DataFusionError),
    /// A session in this process broke down.
    #[error(transparent)]
    Session(caudal_client::Error),
}

impl Error {
    /// Whether it is about what was asked or how it was answered, rather than about files, names or the way to a
    /// cluster.
    pub fn is_of_query(&self) -> bool {
        self.code().kind() == Kind::Query
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Refused(refusals) => {
                refusals.first().map_or(codes::INVALID_QUERY, |refusal| refusal.code)
            }
            Error::Failed { failure, .. } => failure.code,
            Error::Plan(error) => error.code(),
            Error::Files(error) => error.code(),
            Error::Suite(error) => error.code(),
            Error::NoFiles { .. } => codes::NO_FILE_FOR_TABLE,
            Error::OneInput { .. } => codes::READ_ONLY_ONCE,
            Error::Cluster(error) => error.code(),
            Error::MemoryOfCluster => codes::NOT_FOR_A_CLUSTER,
            Error::TimedOut(_) => codes::TIMED_OUT,
            Error::Oracle { .. } => codes::ORACLE_FAILED,
            Error::Engine(_) => codes::ENGINE_CANNOT_START,
            Error::Session(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Refused(refusals) => refusals.first()?.hint.clone(),
            Error::Plan(error) => error.hint(),
            Error::Files(error) => error.hint(),
            Error::Suite(error) => error.hint(),
            Error::NoFiles { pattern, .. } if Path::new(pattern).is_dir() => {
                Some("files whose names begin with . or _ are passed over".to_string())
            }
            Error::OneInput { .. } => {
                Some("ask of the one table twice, or save it as a file".to_string())
            }
            Error::NoFiles { .. } => {
                Some("patterns are relative to the current folder: is it right?".to_string())
            }
            Error::Cluster(error) => error.hint(),
            Error::MemoryOfCluster => Some("its workers have a --memory of their own".to_string()),
            Error::Session(error) => error.hint(),
            Error::Failed { failure, .. } => failure.hint.clone(),
            Error::TimedOut(_) => {
                Some("give it more time with --timeout, or ask for less".to_string())
            }
            Error::Oracle { .. } | Error::Engine(_) => None,
        }
    }

    fn excerpt(&self) -> Option<String> {
        match self {
            Error::Refused(refusals) => refusals.first()?.excerpt.clone(),
            Error::Failed { failure, .. } => failure.excerpt.clone(),
            Error::Plan(error) => error.excerpt(),
            Error::Cluster(error) => error.excerpt(),
            _ => None,
        }
    }

    fn failures(&self) -> Vec<Failure> {
        match self {
            Error::Refused(refusals) => refusals.clone(),
            other => vec![Failure::of(other)],
        }
    }
}

fn no_files(pattern: &str) -> String {
    match Path::new(pattern).is_dir() {
        true => format!("the folder {pattern} has no files"),
        false => format!("no file matches {pattern}"),
    }
}

impl From<caudal_planner::Error> for Error {
    fn from(error: caudal_planner::Error) -> Self {
        match error.refusals() {
            Some(refusals) => Error::Refused(refusals),
            None => Error::Plan(error),
        }
    }
}

impl From<remote::Error> for Error {
    fn from(error: remote::Error) -> Self {
        match error {
            remote::Error::Unanswerable(refusals) => Error::Refused(refusals),
            other => Error::Cluster(other),
        }
    }
}

impl From<caudal_client::Error> for Error {
    fn from(error: caudal_client::Error) -> Self {
        match error {
            caudal_client::Error::Source(error) => error.into(),
            caudal_client::Error::Remote(error) => error.into(),
            other => Error::Session(other),
        }
    }
}
