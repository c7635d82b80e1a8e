//! What a session's queues are called. They belong to it alone and go with it.

use crate::ids::{QueryId, SessionId, ShardId};

#[derive(Clone, Debug)]
pub struct Queues {
    pub session: SessionId,
}

impl Queues {
    pub fn map(&self) -> String {
        format!("caudal.{}.map", self.session)
    }

    pub fn shard(&self, shard: ShardId) -> String {
        format!("caudal.{}.shard.{}", self.session, shard.0)
    }

    pub fn result(&self, query: QueryId) -> String {
        format!("caudal.{}.result.{}", self.session, query.0)
    }
}
