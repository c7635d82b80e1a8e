//! Random tables, and queries over them that DataFusion alone answers.

use caudal_oracle::random_sql::{Query, query};
use fastrand::Rng;

use crate::harness::{Table, plain};
use crate::random_sql::tables;

pub struct Workload {
    pub tables: Vec<Table>,
    queries: Vec<Query>,
}

impl Workload {
    /// None where none of its queries is answered.
    pub async fn random(rng: &mut Rng) -> Option<Self> {
        let tables = tables(rng);
        let mut queries = vec![];
        for query in (0..3).map(|_| query(rng)).collect::<Vec<_>>() {
            if plain(&tables, &query.sql).await.is_ok() {
                queries.push(query);
            }
        }
        (!queries.is_empty()).then_some(Self { tables, queries })
    }

    pub fn sql(&self) -> Vec<String> {
        self.queries.iter().map(|query| query.sql.clone()).collect()
    }

    /// Whether the rows of its query have an order.
    pub fn is_ordered(&self, sql: &str) -> bool {
        self.queries.iter().any(|query| query.sql == sql && query.ordered)
    }
}
