//! Pass: joins on what was gathered, now that its exact size is known.
//!
//! ```text
//! HashJoinExec: Inner, on a = b          SortMergeJoinExec: Inner, on a = b
//!   SourceExec: rows=90000000     ==>      SortExec: a
//!   SourceExec: rows=80000000                SourceExec: rows=90000000
//!                                          SortExec: b
//!                                            SourceExec: rows=80000000
//! ```
//!
//! The smaller side builds the hash table. Where even that one would not fit into its share of the
//! memory, both sides are sorted, which can be done on disk.
//!
//! ```text
//! BoundedWindowAggExec: mode=Sorted          BoundedWindowAggExec: mode=Sorted
//!   HashJoinExec: Right, on a = id             SortExec: id
//!     SourceExec: rows=50              ==>       HashJoinExec: Left, on id = a
//!     SortExec: id                                 SortExec: id
//!       SourceExec: rows=3                           SourceExec: rows=3
//!                                                  SourceExec: rows=50
//! ```
//!
//! A join gives rows in the order of the side that does not build. What is above relies on that, in each shard, whichever side is
//! the smaller one there: so the order is put back.

use std::any::Any;
use std::sync::Arc;

use arrow::compute::SortOptions;
use caudal_planner::region::{collects_left, with_children};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::join_selection::JoinSelection;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode, SortMergeJoinExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use crate::source::SourceExec;

/// `build_bytes_max`: the largest side that may become a hash table.
pub fn choose(
    plan: Arc<dyn ExecutionPlan>,
    options: &ConfigOptions,
    build_bytes_max: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    if !plan.exists(|node| Ok(is_ordered_join(node)))? {
        return sided(plan, options, build_bytes_max);
    }
    plan.transform_up(|node| match is_ordered_join(&node) {
        true => in_its_order(node, options, build_bytes_max).map(Transformed::yes),
        false => Ok(Transformed::no(node)),
    })
    .data()
    .and_then(|plan| sided(plan, options, build_bytes_max))
}

/// Whether others may rely on the order of what a join gives.
fn is_ordered_join(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.children().len() == 2 && node.output_ordering().is_some()
}

/// A join that has chosen its sides, its rows in the order in which they were.
fn in_its_order(
    join: Arc<dyn ExecutionPlan>,
    options: &ConfigOptions,
    build_bytes_max: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let order = join.output_ordering().cloned();
    let chosen = sided(join, options, build_bytes_max)?;
    match order {
        Some(order) if !chosen.equivalence_properties().ordering_satisfy(order.clone())? => {
            Ok(Arc::new(SortExec::new(order, chosen).with_preserve_partitioning(true)))
        }
        _ => Ok(chosen),
    }
}

fn sided(
    plan: Arc<dyn ExecutionPlan>,
    options: &ConfigOptions,
    build_bytes_max: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = JoinSelection::new().optimize(plan, options)?;
    let plan = plan.transform_up(collect_whole).data()?;
    plan.transform_up(|node| match (node.as_ref() as &dyn Any).downcast_ref::<HashJoinExec>() {
        Some(join) if is_too_large(join, build_bytes_max) => sort_merge(join).map(Transformed::yes),
        _ => Ok(Transformed::no(node)),
    })
    .data()
}

/// The left side of a join that collects it may have become a union, which has a partition for each of its parts.
fn collect_whole(join: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    if !collects_left(&join) {
        return Ok(Transformed::no(join));
    }
    let mut sides: Vec<_> = join.children().into_iter().cloned().collect();
    if sides[0].properties().partitioning.partition_count() == 1 {
        return Ok(Transformed::no(join));
    }
    sides[0] = Arc::new(CoalescePartitionsExec::new(Arc::clone(&sides[0])));
    with_children(join, sides).map(Transformed::yes)
}

fn is_too_large(join: &HashJoinExec, build_bytes_max: usize) -> bool {
    *join.partition_mode() == PartitionMode::Partitioned
        && !join.null_aware
        && gathered_bytes(join.left()) > build_bytes_max
}

fn gathered_bytes(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let mut bytes = 0;
    plan.apply(|node| {
        if let Some(source) = (node.as_ref() as &dyn Any).downcast_ref::<SourceExec>() {
            bytes += source.bytes();
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .expect("the walk's closure never fails");
    bytes
}

fn sort_merge(join: &HashJoinExec) -> Result<Arc<dyn ExecutionPlan>> {
    let (left, right): (Vec<_>, Vec<_>) = join.on().iter().cloned().unzip();
    let merged: Arc<dyn ExecutionPlan> = Arc::new(SortMergeJoinExec::try_new(
        sorted(join.left(), left),
        sorted(join.right(), right),
        join.on().to_vec(),
        join.filter().cloned(),
        *join.join_type(),
        vec![SortOptions::default(); join.on().len()],
        join.null_equality(),
    )?);
    let Some(kept) = &join.projection else { return Ok(merged) };
    let schema = merged.schema();
    let column = |at: &usize| {
        let name = schema.field(*at).name();
        (Arc::new(Column::new(name, *at)) as Arc<dyn PhysicalExpr>, name.clone())
    };
    Ok(Arc::new(ProjectionExec::try_new(kept.iter().map(column).collect::<Vec<_>>(), merged)?))
}

fn sorted(
    plan: &Arc<dyn ExecutionPlan>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
) -> Arc<dyn ExecutionPlan> {
    let order = keys.into_iter().map(|key| PhysicalSortExpr::new(key, SortOptions::default()));
    match LexOrdering::new(order) {
        Some(order) => {
            Arc::new(SortExec::new(order, Arc::clone(plan)).with_preserve_partitioning(true))
        }
        None => Arc::clone(plan),
    }
}
