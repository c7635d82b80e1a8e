//! The outline of a plan, for those who do not run it.

use std::sync::Arc;

use arrow::datatypes::Schema;
use caudal_core::{Failure, QueryId, TableId};
use caudal_protocol::calls::QueryShape;
use caudal_protocol::outline::{Outline, TableOutline};

use crate::session::SessionPlan;

impl SessionPlan {
    pub fn outline(&self) -> Outline {
        let tables = self.tables.iter().enumerate().map(|(index, table)| {
            let id = TableId::from(index);
            let (shards, results) = (self.shards_reading(id), self.results_reading(id));
            TableOutline { needs: table.needs.clone(), shards, results }
        });
        Outline {
            tables: tables.collect(),
            queries: (0..self.queries.len()).map(|query| self.shape(query.into())).collect(),
            shards: self.shards,
            fingerprint: format!("{:032x}", self.fingerprint),
        }
    }

    fn shape(&self, id: QueryId) -> QueryShape {
        let query = self.query(id);
        let columns = query.answer.as_ref().map(|answer| Arc::clone(&answer.schema));
        QueryShape {
            name: query.name.clone(),
            schema: columns.unwrap_or_else(|_| Arc::new(Schema::empty())),
            sources: self.sources(id),
            refused: query.answer.as_ref().err().map(|error| Failure::of(error.as_ref())),
        }
    }
}
