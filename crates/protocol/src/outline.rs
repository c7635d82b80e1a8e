//! The outline of a session's plan: what gateways have to know of it, and nothing that is run.
//!
//! It is made where a session is planned, which may be another process.

use caudal_core::{QueryId, ShardId, TableId};
use serde::{Deserialize, Serialize};

use crate::calls::{QueryShape, TableNeeds};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outline {
    pub tables: Vec<TableOutline>,
    pub queries: Vec<QueryShape>,
    pub shards: usize,
    /// Of the plan, in hexadecimal.
    pub fingerprint: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableOutline {
    pub needs: TableNeeds,
    /// The shards that receive fragments of the table.
    pub shards: Vec<ShardId>,
    /// The queries whose answer comes straight from its fragments.
    pub results: Vec<QueryId>,
}

impl Outline {
    pub fn table(&self, id: TableId) -> &TableOutline {
        &self.tables[id.index()]
    }

    pub fn query(&self, id: QueryId) -> &QueryShape {
        &self.queries[id.index()]
    }

    pub fn shard_ids(&self) -> impl Iterator<Item = ShardId> {
        (0..self.shards).map(ShardId::from)
    }
}
