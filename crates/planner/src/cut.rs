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
//! read: two stages, of whichever queries, are one if their plans are [the same](crate::identity).

use std::sync::Arc;

use caudal_core::{QueryId, StageId};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;

use crate::exchange::{Distribution, ExchangeExec};
use crate::identity::Identity;
use crate::leaf::LeafExec;
use crate::region::{Region, region_of, with_children};

/// The stages of a session while its queries are added one by one.
#[derive(Default)]
pub struct Cutter {
    pub stages: Vec<CutStage>,
}

/// A stage before it is known who reads it.
pub struct CutStage {
    pub plan: Arc<dyn ExecutionPlan>,
    pub region: Region,
    /// None: to the client, as the answer of a query.
    pub distribution: Option<Distribution>,
    pub queries: Vec<QueryId>,
    /// Of the plan together with the exchange that it ends in.
    pub identity: Identity,
}

impl Cutter {
    /// Cuts a query's plan; the result is the stage that answers the query.
    pub fn add(&mut self, query: QueryId, plan: Arc<dyn ExecutionPlan>) -> Result<StageId> {
        let plan = self.cut(query, plan)?;
        let identity = Identity::of(&plan);
        let stage = CutStage::new(query, plan, None, identity);
        Ok(self.push(stage))
    }

    /// As if a query, which could not be added after all, had never been: all stages but the first so many
    /// were made for it.
    pub fn forget(&mut self, query: QueryId, stages: usize) {
        self.stages.truncate(stages);
        for stage in &mut self.stages {
            stage.queries.retain(|other| *other != query);
        }
    }

    fn cut(
        &mut self,
        query: QueryId,
        plan: Arc<dyn ExecutionPlan>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let children = plan.children().into_iter().map(|child| self.cut(query, Arc::clone(child)));
        let plan = with_children(Arc::clone(&plan), children.collect::<Result<_>>()?)?;
        let Some(exchange) = ExchangeExec::at(&plan) else { return Ok(plan) };
        let stage = self.intern(query, &plan, exchange);
        Ok(Arc::new(LeafExec::of_stage(stage, exchange)))
    }

    /// The stage that ends in this exchange: the same one that is there already, or a new one.
    fn intern(
        &mut self,
        query: QueryId,
        plan: &Arc<dyn ExecutionPlan>,
        exchange: &ExchangeExec,
    ) -> StageId {
        let identity = Identity::of(plan);
        let known = self.stages.iter().position(|stage| stage.identity.is(&identity));
        if let Some(known) = known {
            let queries = &mut self.stages[known].queries;
            if !queries.contains(&query) {
                queries.push(query);
            }
            return known.into();
        }
        let (input, to) = (Arc::clone(&exchange.input), exchange.distribution.clone());
        self.push(CutStage::new(query, input, Some(to), identity))
    }

    fn push(&mut self, stage: CutStage) -> StageId {
        self.stages.push(stage);
        StageId::from(self.stages.len() - 1)
    }
}

impl CutStage {
    fn new(
        query: QueryId,
        plan: Arc<dyn ExecutionPlan>,
        distribution: Option<Distribution>,
        identity: Identity,
    ) -> Self {
        let region = region_of(&plan);
        Self { plan, region, distribution, queries: vec![query], identity }
    }
}
