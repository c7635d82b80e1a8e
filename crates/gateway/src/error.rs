//! Errors of a gateway: of calls, and those that end a session.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use caudal_core::{Code, Coded, Failure, SessionId, codes};
use thiserror::Error;
use tokio::task::JoinError;

use crate::planning;

#[derive(Debug, Error)]
pub enum Error {
    #[error("no token that this cluster knows came with the call")]
    Unauthenticated,
    #[error("there is no session {session} of this token")]
    NoSession { session: SessionId },
    #[error("all {sessions_max} sessions of the cluster are taken")]
    TooManySessions { sessions_max: usize },
    #[error("this token has {sessions} sessions, and what is free is for others")]
    ShareTaken { sessions: usize },
    #[error("all {max} {what} are taken that it may have here")]
    OverQuota { what: &'static str, max: usize },
    #[error("cannot make sense of {what}: {reason}")]
    BadRequest { what: &'static str, reason: String },
    #[error("table {table}: {difference}")]
    WrongSchema { table: String, difference: String },
    #[error("batch {number} of table {table}: {reason}")]
    BadFragment { table: String, number: u32, reason: String },
    #[error("a message of more than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    /// With the failure it ended with, which is what its client is told, unless it was closed.
    #[error("session {session} is over")]
    Over { session: SessionId, failure: Option<Failure> },
    #[error("the client of session {session} has come back by another way")]
    LeaseLost { session: SessionId },
    #[error("gateway {gateway} is leaving")]
    Leaving { gateway: String },
    #[error("no worker has taken up the session in {seconds} s")]
    Unclaimed { seconds: u64 },
    #[error("its client was not there for {seconds} s")]
    ClientGone { seconds: u64 },
    #[error("the session was open for more than {seconds} s")]
    SessionTooLong { seconds: u64 },
    #[error("it was cancelled")]
    Cancelled,
    #[error("the cluster was stopped")]
    Stopped,
    #[error("gateway {gateway} plans session {session} in another way than the one that opened it")]
    OtherPlan { gateway: String, session: SessionId },
    /// One that another gateway has planned: it is not the session's fault.
    #[error("gateway {gateway} cannot plan session {session}, which is open: {reason}")]
    NotPlanned { gateway: String, session: SessionId, reason: String },
    #[error("the object {name} is not what it should be: {reason}")]
    BadObject { name: String, reason: String },
    #[error("the broker has lost queue {queue}, though its session is open")]
    LostQueue { queue: String },
    /// Whoever keeps the session's client makes it again, or ends the session.
    #[error("queue {queue} is not there, though its session is open")]
    QueueMissing { queue: String },
    #[error("cannot listen at {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("anybody may call a gateway at {address}: it has {missing}")]
    Insecure { address: SocketAddr, missing: &'static str },
    #[error("cannot read {}: {source}", .path.display())]
    TlsFile { path: PathBuf, source: io::Error },
    #[error("cannot serve: {0}")]
    Serve(#[from] tonic::transport::Error),
    #[error("a task of the gateway died: {0}")]
    Panicked(#[from] JoinError),
    #[error(transparent)]
    Planning(#[from] planning::Error),
    #[error(transparent)]
    Broker(#[from] caudal_broker::Error),
    #[error(transparent)]
    Store(#[from] caudal_store::StoreError),
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Unauthenticated => codes::UNKNOWN_TOKEN,
            Error::NoSession { .. } => codes::NO_SESSION,
            Error::TooManySessions { .. } | Error::ShareTaken { .. } => codes::TOO_MANY_SESSIONS,
            Error::OverQuota { .. } => codes::OVER_QUOTA,
            Error::BadRequest { .. } => codes::BAD_REQUEST,
            Error::WrongSchema { .. } => codes::WRONG_COLUMNS,
            Error::BadFragment { .. } => codes::BAD_BATCH,
            Error::TooLarge { .. } => codes::BATCH_TOO_LARGE,
            Error::Over { .. } => codes::SESSION_OVER,
            Error::LeaseLost { .. } => codes::CLIENT_ELSEWHERE,
            Error::Leaving { .. } => codes::GATEWAY_LEAVING,
            Error::Unclaimed { .. } => codes::NO_WORKER,
            Error::ClientGone { .. } => codes::CLIENT_GONE,
            Error::SessionTooLong { .. } => codes::SESSION_TOO_LONG,
            Error::Cancelled => codes::CANCELLED,
            Error::Stopped => codes::CLUSTER_STOPPED,
            Error::OtherPlan { .. } | Error::NotPlanned { .. } => codes::OTHER_PLAN,
            Error::BadObject { .. } => codes::BAD_OBJECT,
            Error::Listen { .. } => codes::GATEWAY_CANNOT_LISTEN,
            Error::Insecure { .. } => codes::GATEWAY_INSECURE,
            Error::TlsFile { .. } => codes::TLS_FILE_UNREADABLE,
            Error::Serve(_) => codes::GATEWAY_CANNOT_SERVE,
            Error::Panicked(_) => codes::GATEWAY_TASK_DIED,
            Error::LostQueue { .. } => codes::QUEUE_LOST,
            Error::QueueMissing { .. } => codes::QUEUE_MISSING,
            Error::Planning(error) => error.code(),
            Error::Broker(error) => error.code(),
            Error::Store(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Insecure { .. } => {
                "give it --tls-cert, --tls-key and --tokens; or --insecure, where nobody else reaches it"
            }
            Error::Unauthenticated => "give one with --token or CAUDAL_TOKEN",
            Error::TooManySessions { .. } => "try again when another session has ended",
            Error::ShareTaken { .. } => "try again when another session of this token has ended",
            Error::OverQuota { .. } => {
                "end what is not needed any more, or go on at another gateway"
            }
            Error::WrongSchema { .. } => "send the columns that the answer to `open` asks for",
            Error::BadFragment { .. } => "send plain record batches, without dictionaries",
            Error::TooLarge { .. } => "send smaller batches",
            Error::Leaving { .. } => "go on at another gateway",
            Error::Unclaimed { .. } => "start workers on the same broker and store",
            Error::SessionTooLong { .. } => {
                "divide it into smaller ones, or have gateways started with a longer --session-max"
            }
            Error::OtherPlan { .. } => "use one version of Caudal in the whole cluster",
            Error::Planning(error) => return error.hint(),
            Error::Broker(error) => return error.hint(),
            Error::Store(error) => return error.hint(),
            _ => return None,
        };
        Some(hint.to_string())
    }

    fn excerpt(&self) -> Option<String> {
        match self {
            Error::Planning(error) => error.excerpt(),
            _ => None,
        }
    }
}
