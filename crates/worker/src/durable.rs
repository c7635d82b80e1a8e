//! The durable side of a session, for a worker.

use std::sync::Arc;
use std::time::Duration;

use caudal_core::{SessionId, limits};
use caudal_protocol::Failure;
use caudal_protocol::manifest::{Manifest, Tombstone};
use caudal_runtime::time::{sleep, wall_ms};
use caudal_store::{SessionRecords, SessionState, StoreError};
use tracing::error;

#[derive(Clone)]
pub struct Durable {
    pub records: SessionRecords,
    pub manifest: Arc<Manifest>,
    /// The worker's name in the cluster.
    pub worker: String,
    /// Random: tells this process from those that had the name before.
    pub incarnation: u64,
    /// Within this time the workers subscribe to the session's shards, each in its own order.
    pub spread_ms: u64,
    /// Time that a shard waits for more of the same before it writes down what it has.
    pub linger_ms: u64,
}

impl Durable {
    pub fn session(&self) -> &SessionId {
        self.records.session()
    }

    /// Returns when the session is over.
    pub async fn wait_until_over(&self) {
        while !matches!(self.records.state().await, Ok(SessionState::Over)) {
            sleep(Duration::from_millis(limits::SESSIONS_POLL_MS)).await;
        }
    }

    /// Ends the session with an error, unless it has ended already. Gateways do the rest.
    pub async fn fail_session(&self, failure: Failure) -> Result<(), StoreError> {
        error!(session = %self.session(), code = %failure.code, error = failure.message, "session failed");
        let tombstone = Tombstone::of(&self.manifest, Some(failure), wall_ms());
        self.records.create_tombstone(&tombstone).await.map(|_| ())
    }
}
