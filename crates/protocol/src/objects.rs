//! Names of durable objects: the layout of the store that gateways and workers share.
//!
//! ```text
//! slots/<k>                      the session that takes the k-th place of the cluster
//! sessions/<id>/manifest         what the session is; made once
//! sessions/<id>/holds/<epoch>    the lease of the gateway that has the client; the highest epoch counts
//! sessions/<id>/claims/<worker>  who serves the session, or why it does not
//! sessions/<id>/marks/<fragment>/<k>   retry markers: a fragment that was delivered again and is being run
//! sessions/<id>/failures/<query>     why a query fails, as the first who met it says
//! sessions/<id>/rows/<table>     how many rows of the table were sent, and how many were left out
//! sessions/<id>/resends/<k>      queues were lost for the k-th time: the client is to send its tables again
//! sessions/<id>/shards/<n>/...   the shard's journal and outputs
//! closed/<id>                    how the session ended; outlives it
//! ```

use caudal_core::{FragmentId, QueryId, SessionId, ShardId, TableId};

pub const SESSIONS: &str = "sessions";
pub const SLOTS: &str = "slots";
pub const CLOSED: &str = "closed";

/// The objects of one session.
#[derive(Clone, Debug)]
pub struct Objects {
    pub session: SessionId,
}

impl Objects {
    /// Everything of the session but its tombstone.
    pub fn folder(&self) -> String {
        format!("{SESSIONS}/{}", self.session)
    }

    pub fn manifest(&self) -> String {
        format!("{}/manifest", self.folder())
    }

    pub fn leases(&self) -> String {
        format!("{}/holds", self.folder())
    }

    /// Zero-padded, so that names are in the order of their epochs.
    pub fn lease(&self, epoch: u64) -> String {
        format!("{}/{epoch:020}", self.leases())
    }

    pub fn claims(&self) -> String {
        format!("{}/claims", self.folder())
    }

    pub fn claim(&self, worker: &str) -> String {
        format!("{}/{worker}", self.claims())
    }

    pub fn retry_marker(&self, fragment: FragmentId, attempt: u32) -> String {
        let (source, number) = (fragment.source, fragment.number);
        format!("{}/marks/{source}-{number}/{attempt}", self.folder())
    }

    pub fn failure(&self, query: QueryId) -> String {
        format!("{}/failures/{}", self.folder(), query.0)
    }

    pub fn resends(&self) -> String {
        format!("{}/resends", self.folder())
    }

    pub fn resend(&self, number: u32) -> String {
        format!("{}/{number}", self.resends())
    }

    pub fn rows(&self, table: TableId) -> String {
        format!("{}/rows/{}", self.folder(), table.0)
    }

    pub fn shard(&self, shard: ShardId) -> String {
        format!("{}/shards/{}", self.folder(), shard.0)
    }

    pub fn tombstone(&self) -> String {
        format!("{CLOSED}/{}", self.session)
    }
}

pub fn slot(number: usize) -> String {
    format!("{SLOTS}/{number:04}")
}
