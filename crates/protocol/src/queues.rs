//! Names of a session's queues. They belong to it alone and go with it.

use caudal_core::{QueryId, SessionId, ShardId};

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

    /// All of them.
    pub fn all(&self, shards: usize, queries: usize) -> Vec<String> {
        let shards = (0..shards).map(|shard| self.shard(shard.into()));
        let results = (0..queries).map(|query| self.result(query.into()));
        std::iter::once(self.map()).chain(shards).chain(results).collect()
    }

    /// Whether a queue of this name holds results. A broker that refuses a message does not say why;
    /// the queue's name does.
    pub fn is_result(queue: &str) -> bool {
        let mut parts = queue.rsplit('.');
        parts.next().is_some_and(|last| last.parse::<u32>().is_ok())
            && parts.next() == Some("result")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_a_queue_holds() {
        for session in ["7f3a", "result", "7.result"] {
            let queues = Queues { session: SessionId(session.into()) };
            assert!(Queues::is_result(&queues.result(QueryId(0))));
            assert!(!Queues::is_result(&queues.map()));
            assert!(!Queues::is_result(&queues.shard(ShardId(0))));
        }
    }
}
