//! Errors that end a worker's serving of a session.

use caudal_core::{Code, Coded, FragmentId, ShardId, codes};
use caudal_protocol::wire;
use caudal_store::StoreError;
use thiserror::Error;
use tokio::task::JoinError;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Broker(#[from] caudal_broker::Error),
    #[error(transparent)]
    Journal(#[from] caudal_store::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("what a shard wrote down cannot be read: {0}")]
    Record(#[from] wire::Error),
    #[error(transparent)]
    Engine(#[from] caudal_engine::Error),
    #[error("a task of the worker died: {0}")]
    Panicked(JoinError),
    #[error("a queue of the session is gone, though the session is open")]
    QueueGone,
    #[error("the broker does not let this worker have what it has for others")]
    NotLetIn,
    #[error("shard {} was taken over while it was being loaded", shard.0)]
    Superseded { shard: ShardId },
    #[error("poison fragment {fragment}: {deaths} workers died while they ran it")]
    PoisonFragment { fragment: FragmentId, deaths: u32 },
    #[error("poison shard {}: {deaths} workers in a row died while they owned it", shard.0)]
    PoisonShard { shard: ShardId, deaths: usize },
}

impl Error {
    pub fn is_queue_gone(&self) -> bool {
        matches!(self, Error::QueueGone | Error::Broker(caudal_broker::Error::NoQueue { .. }))
    }

    /// The broker does not do what it was asked: of this worker, or at all.
    pub fn is_refusal(&self) -> bool {
        use caudal_broker::Error::{NoChannel, Refused};
        matches!(self, Error::Broker(Refused { .. } | NoChannel { .. }))
    }

    /// Nothing has failed: a connection was lost, or another worker has taken over.
    pub fn is_somebody_elses_turn(&self) -> bool {
        match self {
            Error::Broker(error) => error.is_retryable(),
            Error::Journal(error) => {
                use caudal_store::Error::{Compacted, Fenced};
                matches!(error, Fenced { .. } | Compacted { .. })
            }
            Error::Superseded { .. } => true,
            _ => false,
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Broker(error) => error.code(),
            Error::Journal(error) => error.code(),
            Error::Store(error) => error.code(),
            Error::Engine(error) => error.code(),
            Error::Panicked(_) => codes::WORKER_TASK_DIED,
            Error::Record(_) => codes::RECORD_UNREADABLE,
            Error::QueueGone => codes::QUEUE_GONE,
            Error::NotLetIn => codes::BROKER_REFUSES,
            Error::Superseded { .. } => codes::SHARD_TAKEN_OVER,
            Error::PoisonFragment { .. } => codes::POISON_FRAGMENT,
            Error::PoisonShard { .. } => codes::POISON_SHARD,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Broker(error) => error.hint(),
            Error::Journal(error) => error.hint(),
            Error::Store(error) => error.hint(),
            Error::Engine(error) => error.hint(),
            Error::PoisonFragment { .. } | Error::PoisonShard { .. } => {
                Some("the workers' logs say what they died of; out of memory, most often".into())
            }
            Error::Panicked(_)
            | Error::Record(_)
            | Error::QueueGone
            | Error::NotLetIn
            | Error::Superseded { .. } => None,
        }
    }

    /// Whether starting anew may help. A queue or an object that is gone goes with its session, which will be
    /// seen to be over.
    fn is_retryable(&self) -> bool {
        let is_gone = matches!(self, Error::Journal(caudal_store::Error::Gone { .. }));
        self.code().is_retryable() || self.is_queue_gone() || is_gone
    }
}
