//! A stage's plan over data instead of leaves. Fresh for every run: operators keep state.

use std::sync::Arc;

use caudal_planner::leaf::{Leaf, LeafExec};
use caudal_planner::region::with_children;
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;

use crate::source::SourceExec;

/// The data that a leaf (and the node that it is) reads in this run.
type Data<'a> = dyn FnMut(&Leaf, &Arc<dyn ExecutionPlan>) -> Result<SourceExec> + 'a;

pub fn bind(plan: &Arc<dyn ExecutionPlan>, data: &mut Data<'_>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(leaf) = LeafExec::of(plan) {
        return Ok(Arc::new(data(leaf, plan)?));
    }
    let mut children = Vec::with_capacity(plan.children().len());
    for child in plan.children() {
        children.push(bind(child, data)?);
    }
    if children.is_empty() {
        return Arc::clone(plan).reset_state();
    }
    // New children alone would keep the old state: the threshold of a top-k, say, by which a second
    // run of the same rows loses the last of them.
    with_children(Arc::clone(plan), children)?.reset_state()
}
