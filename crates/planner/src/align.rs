//! Pass: the inputs of every operator live in the same place.
//!
//! Operators work partition by partition. DataFusion has made that right for its own partitions;
//! ours differ in three ways that it could not know of: a collected side must reach every shard,
//! constants must be made once, and a table that is read without an exchange arrives in fragments
//! that no shard would see.
//!
//! Bottom up: when an operator is looked at, everything below it is aligned.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;

use crate::exchange::ExchangeExec;
use crate::region::{collects_left, gathered, is_recursive, region_of, with_children};
use crate::{joins, unions};

pub fn align(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let below = plan.children().into_iter().map(|child| {
        // Inside a recursive query only the gathered tables are ours.
        if is_recursive(&plan) {
            align_gathered(Arc::clone(child))
        } else {
            align(Arc::clone(child))
        }
    });
    let children = below.collect::<Result<Vec<_>>>()?;
    let children = match children.len() {
        0 | 1 => children,
        _ if is_recursive(&plan) => children,
        _ if collects_left(&plan) => joins::align_collecting(&plan, children),
        _ if unions::is_union(&plan) => unions::align_union(children),
        _ => align_equals(children),
    };
    if unions::is_interleave(&plan) {
        return unions::replace_interleave(children);
    }
    with_children(plan, children)
}

/// Inputs that are divided alike (both sides of a join by the same key) stay; any others meet in one
/// place, which is right for every operator.
fn align_equals(children: Vec<Arc<dyn ExecutionPlan>>) -> Vec<Arc<dyn ExecutionPlan>> {
    let by_key =
        |child: &Arc<dyn ExecutionPlan>| region_of(child) == crate::region::Region::Sharded;
    if children.iter().all(by_key) {
        children
    } else {
        children.into_iter().map(gathered).collect()
    }
}

fn align_gathered(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if ExchangeExec::at(&plan).is_some() {
        return align(plan);
    }
    let children = plan.children().into_iter().map(|child| align_gathered(Arc::clone(child)));
    with_children(Arc::clone(&plan), children.collect::<Result<_>>()?)
}
