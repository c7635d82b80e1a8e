//! Regions: where the parts of a plan between exchanges live.
//!
//! DataFusion's operators work partition by partition, so a region is right wherever all the
//! partitions it reads are divided in the same way. This module names the ways.

use std::any::Any;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PartitionMode,
};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};

use crate::exchange::{Distribution, ExchangeExec};
use crate::leaf::{Leaf, LeafExec};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Reads tables only: runs on each fragment alone, anywhere.
    Tables,
    /// Divided over the shards, by key or arbitrarily.
    Sharded,
    /// All of it in one place: gathered, or a constant that must be made exactly once.
    Single,
}

/// Region that this plan is the top of. Its operators have been aligned already.
pub fn region_of(plan: &Arc<dyn ExecutionPlan>) -> Region {
    if let Some(leaf) = LeafExec::of(plan) {
        return match leaf {
            Leaf::Table { .. } => Region::Tables,
            Leaf::Stage(_) if plan.properties().partitioning.partition_count() > 1 => {
                Region::Sharded
            }
            Leaf::Stage(_) => Region::Single,
        };
    }
    if let Some(exchange) = ExchangeExec::at(plan) {
        return match exchange.distribution {
            Distribution::Hash(_) | Distribution::Spread => Region::Sharded,
            Distribution::Gather | Distribution::Broadcast => Region::Single,
        };
    }
    if is_recursive(plan) {
        return Region::Single;
    }
    // A collected side is broadcast; the other one says where the join runs.
    if collects_left(plan) {
        return region_of(plan.children()[1]);
    }
    plan.children().first().map_or(Region::Single, |child| region_of(child))
}

/// Whether the join gathers its left input as a whole, whatever its right input is divided by.
pub fn collects_left(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let node = plan.as_ref() as &dyn Any;
    node.is::<CrossJoinExec>()
        || node.is::<NestedLoopJoinExec>()
        || node
            .downcast_ref::<HashJoinExec>()
            .is_some_and(|join| *join.partition_mode() == PartitionMode::CollectLeft)
}

pub fn is_recursive(plan: &Arc<dyn ExecutionPlan>) -> bool {
    (plan.as_ref() as &dyn Any).is::<RecursiveQueryExec>()
}

/// The same operator over other inputs.
pub fn with_children(
    plan: Arc<dyn ExecutionPlan>,
    children: Vec<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    if children.is_empty() {
        return Ok(plan);
    }
    plan.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
}

/// A plan that lives in one place.
pub fn gathered(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match region_of(&plan) {
        Region::Single => plan,
        Region::Tables | Region::Sharded => ExchangeExec::over(plan, Distribution::Gather),
    }
}

/// A plan that is divided over the shards.
pub fn sharded(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match region_of(&plan) {
        Region::Sharded => plan,
        Region::Tables | Region::Single => ExchangeExec::over(plan, Distribution::Spread),
    }
}
