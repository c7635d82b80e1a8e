//! Pass: each exchange ends a stage, and equal stages become one.
//!
//! ```text
//! AggregateExec: mode=FinalPartitioned          s1: AggregateExec: mode=FinalPartitioned
//!   Exchange: by hash of id              ==>          from stage s0
//!     AggregateExec: mode=Partial               s0: AggregateExec: mode=Partial
//!       table t                                       table t              (by hash of id)
//! ```
//!
//! Bottom up, so that the leaves of a stage already carry the final numbers of the stages they
//! read: two stages, of whichever queries, are equal exactly if their texts are.

use std::collections::HashMap;
use std::sync::Arc;

use caudal_core::{QueryId, StageId};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;

use crate::exchange::{Distribution, ExchangeExec};
use crate::fingerprint::text_of;
use crate::leaf::{Leaf, LeafExec};
use crate::region::{Region, region_of, with_children};

/// The stages of a session while its queries are added one by one.
#[derive(Default)]
pub struct Cutter {
    pub stages: Vec<CutStage>,
    by_text: HashMap<String, StageId>,
}

/// A stage before it is known who reads it.
pub struct CutStage {
    pub plan: Arc<dyn ExecutionPlan>,
    pub region: Region,
    /// None: to the client, as the answer of a query.
    pub distribution: Option<Distribution>,
    pub queries: Vec<QueryId>,
    pub text: String,
}

impl Cutter {
    /// Cuts a query's plan; the result is the stage that answers the query.
    pub fn add(&mut self, query: QueryId, plan: Arc<dyn ExecutionPlan>) -> Result<StageId> {
        let root = self.cut(query, plan)?;
        Ok(self.intern(query, root, None))
    }

    fn cut(
        &mut self,
        query: QueryId,
        plan: Arc<dyn ExecutionPlan>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let children = plan.children().into_iter().map(|child| self.cut(query, Arc::clone(child)));
        let plan = with_children(Arc::clone(&plan), children.collect::<Result<_>>()?)?;
        let Some(exchange) = ExchangeExec::at(&plan) else { return Ok(plan) };
        let input = Arc::clone(&exchange.input);
        let stage = self.intern(query, input, Some(exchange.distribution.clone()));
        let leaf =
            LeafExec::new(Leaf::Stage(stage), plan.schema(), exchange.distribution.partitioning());
        Ok(Arc::new(leaf))
    }

    /// The stage for this plan: an equal one that is there already, or a new one.
    fn intern(
        &mut self,
        query: QueryId,
        plan: Arc<dyn ExecutionPlan>,
        distribution: Option<Distribution>,
    ) -> StageId {
        let destination = match &distribution {
            Some(distribution) => distribution.to_string(),
            None => format!("answers {query}"),
        };
        let text = format!("{destination}\n{}", text_of(&plan));
        if let Some(known) = self.by_text.get(&text) {
            let queries = &mut self.stages[known.index()].queries;
            if !queries.contains(&query) {
                queries.push(query);
            }
            return *known;
        }
        let id = StageId::from(self.stages.len());
        let region = region_of(&plan);
        self.by_text.insert(text.clone(), id);
        self.stages.push(CutStage { plan, region, distribution, queries: vec![query], text });
        id
    }
}
