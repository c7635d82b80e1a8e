//! The place where rows change hands: everything below runs in one stage, everything above in
//! another.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use crate::leaf::PLANNED_PARTITIONS;
use crate::optional_sides::known_of;

/// Rule by which rows are distributed over shards.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// The shard that owns the row's key.
    Hash(Vec<Arc<dyn PhysicalExpr>>),
    /// The one shard that gathers everything.
    Gather,
    /// Every shard.
    Broadcast,
    /// Any shard, but only one, the same in every run of the fragment.
    Spread,
}

impl Distribution {
    pub fn partitioning(&self) -> Partitioning {
        match self {
            Distribution::Hash(keys) => Partitioning::Hash(keys.clone(), PLANNED_PARTITIONS),
            Distribution::Spread => Partitioning::UnknownPartitioning(PLANNED_PARTITIONS),
            Distribution::Gather | Distribution::Broadcast => Partitioning::UnknownPartitioning(1),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Hash(keys) => {
                let keys: Vec<_> = keys.iter().map(|key| key.to_string()).collect();
                write!(f, "by hash of {}", keys.join(", "))
            }
            Distribution::Gather => f.write_str("gathered in one shard"),
            Distribution::Broadcast => f.write_str("to every shard"),
            Distribution::Spread => f.write_str("spread over the shards"),
        }
    }
}

/// Properties of the rows that hold on both sides of an exchange: columns that are equal, or constant, stay so. Operators
/// above rely on it (a window sorted by nothing where its PARTITION BY is a constant). The order is lost, and what is constant in
/// each of several places (the single row of an aggregate) need not be the same in all of them.
fn what_stays_true(input: &Arc<dyn ExecutionPlan>) -> EquivalenceProperties {
    let mut known = known_of(input);
    known.clear_orderings();
    if input.properties().partitioning.partition_count() > 1 {
        known.clear_per_partition_constants();
    }
    known
}

#[derive(Debug)]
pub struct ExchangeExec {
    pub input: Arc<dyn ExecutionPlan>,
    pub distribution: Distribution,
    properties: Arc<PlanProperties>,
}

impl ExchangeExec {
    pub fn new(input: Arc<dyn ExecutionPlan>, distribution: Distribution) -> Self {
        let properties = Arc::new(PlanProperties::new(
            what_stays_true(&input),
            distribution.partitioning(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { input, distribution, properties }
    }

    /// An exchange on top of a plan. One that is there already is redirected, not doubled.
    pub fn over(plan: Arc<dyn ExecutionPlan>, to: Distribution) -> Arc<dyn ExecutionPlan> {
        let input = match ExchangeExec::at(&plan) {
            Some(exchange) => Arc::clone(&exchange.input),
            None => plan,
        };
        Arc::new(ExchangeExec::new(input, to))
    }

    /// The exchange at this node, if it is one.
    pub fn at(plan: &Arc<dyn ExecutionPlan>) -> Option<&ExchangeExec> {
        (plan.as_ref() as &dyn Any).downcast_ref()
    }
}

impl DisplayAs for ExchangeExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange: {}", self.distribution)
    }
}

impl ExecutionPlan for ExchangeExec {
    fn name(&self) -> &str {
        "ExchangeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        if let Distribution::Hash(keys) = &self.distribution {
            for key in keys {
                f(key)?;
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(ExchangeExec::new(children.swap_remove(0), self.distribution.clone())))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        datafusion::common::internal_err!("an exchange is cut before its stages run")
    }
}
