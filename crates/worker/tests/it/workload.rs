//! Random tables, and queries over them that DataFusion alone answers.

use caudal_oracle::compare;
use caudal_oracle::random_sql::{Query, query};
use fastrand::Rng;

use crate::harness::{Answer, Table, plain};
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

    /// Panics unless all answers are those of DataFusion alone.
    pub async fn check(&self, answers: Vec<Answer>, seed: u64) {
        assert_eq!(answers.len(), self.queries.len());
        for (Query { sql, ordered }, ours) in self.queries.iter().zip(answers) {
            let theirs = plain(&self.tables, sql).await.unwrap();
            let ours = ours.unwrap_or_else(|error| panic!("{error}\nCAUDAL_SEED={seed}\n{sql}"));
            compare(&ours, &theirs, *ordered)
                .unwrap_or_else(|difference| panic!("{difference}\nCAUDAL_SEED={seed}\n{sql}"));
        }
    }
}
