//! Pass: operators that make many rows of few let others go on, and end when nobody waits for them.
//!
//! ```text
//! NestedLoopJoinExec: filter=x * y = -1          CooperativeExec
//!   SourceExec: rows=200000                        NestedLoopJoinExec: filter=x * y = -1
//!   SourceExec: rows=200000               ==>        CountedExec
//!                                                      SourceExec: rows=200000
//!                                                    SlicedExec
//!                                                      SourceExec: rows=200000
//! ```
//!
//! DataFusion's operators give way where their inputs do: in a plan over rows in memory that is nowhere. A nested loop
//! of 200,000 rows by 200,000 is one call that lasts minutes, and a task can only be ended between two calls.
//!
//! ```text
//! SortExec                            SortExec
//!   RecursiveQueryExec         ==>      JoinedExec
//!                                         CooperativeExec
//!                                           RecursiveQueryExec
//! ```
//!
//! What keeps the rows of a recursive query keeps large batches of them.

mod checked;
mod joined;
mod sliced;

use std::any::Any;
use std::sync::Arc;

use caudal_planner::region::with_children;
use caudal_runtime::compute::Stop;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::WindowAggExec;

/// The plan, ready to be run as a part of the computation of this thread.
pub fn pace(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let stop = Stop::current();
    plan.transform_up(|node| paced(node, &stop)).data()
}

fn paced(node: Arc<dyn ExecutionPlan>, stop: &Stop) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    if keeps_rows(&node) {
        let mut children: Vec<_> = node.children().into_iter().cloned().collect();
        let kept = joined::joined(&children[0])?;
        if !Arc::ptr_eq(&kept, &children[0]) {
            children[0] = kept;
            let node = with_children(node, children)?;
            return paced_itself(node, stop).map(|node| Transformed::yes(node.data));
        }
    }
    paced_itself(node, stop)
}

/// Whether an operator reads its first input to the end before it gives anything.
fn keeps_rows(node: &Arc<dyn ExecutionPlan>) -> bool {
    let operator = node.as_ref() as &dyn Any;
    operator.is::<SortExec>()
        || operator.is::<WindowAggExec>()
        || operator.is::<HashJoinExec>()
        || operator.is::<NestedLoopJoinExec>()
        || operator.is::<CrossJoinExec>()
}

fn paced_itself(
    node: Arc<dyn ExecutionPlan>,
    stop: &Stop,
) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let operator = node.as_ref() as &dyn Any;
    let paced = if operator.is::<NestedLoopJoinExec>() {
        sliced::probe_in_slices(node)?
    } else if let Some(join) = operator.downcast_ref::<HashJoinExec>() {
        checked::hash_join(join, stop)?.unwrap_or(node)
    } else if let Some(join) = operator.downcast_ref::<SortMergeJoinExec>() {
        checked::sort_merge_join(join, stop)?.unwrap_or(node)
    } else if operator.is::<CrossJoinExec>()
        || operator.is::<UnnestExec>()
        || operator.is::<RecursiveQueryExec>()
    {
        node
    } else {
        return Ok(Transformed::no(node));
    };
    Ok(Transformed::yes(Arc::new(CooperativeExec::new(paced))))
}
