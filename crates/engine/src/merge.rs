//! Merges of what a shard gathers of a stage before it is complete.
//!
//! ```text
//! gathered: rows of SortExec(fetch=5)      merge: SortExec(fetch=5), again
//! gathered: rows of Partial aggregates     merge: PartialReduce: states in, fewer states out
//! ```
//!
//! Right because the stages that read the input would do the same to it: a top-k of top-ks is the
//! top-k of all, and merged states finish to the same value. So every reader has to agree.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::StageId;
use caudal_planner::SessionPlan;
use caudal_planner::identity::Identity;
use caudal_planner::leaf::{Leaf, LeafExec};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;

use crate::bind::bind;
use crate::engine::Engine;
use crate::source::{SourceExec, collect};

pub struct Merge {
    /// Over the leaf of the stage whose rows are merged; gives rows of the same kind.
    plan: Arc<dyn ExecutionPlan>,
}

impl Merge {
    pub async fn run(
        &self,
        batches: Vec<RecordBatch>,
        engine: &Engine,
    ) -> Result<Vec<RecordBatch>> {
        let mut batches = Some(batches);
        let plan = bind(&self.plan, &mut |_, leaf| {
            Ok(SourceExec::new(leaf, batches.take().unwrap_or_default(), vec![]))
        })?;
        collect(plan, &engine.context).await
    }
}

/// The merge of each stage whose readers all allow the same one.
pub fn find_all(plan: &SessionPlan) -> HashMap<StageId, Merge> {
    let mut merges = HashMap::new();
    for input in plan.stages.iter().map(|stage| stage.id) {
        let mut found: Vec<Option<Arc<dyn ExecutionPlan>>> = vec![];
        for reader in plan.stages.iter().filter(|stage| stage.inputs.contains(&input)) {
            collect_merges(&reader.plan, input, &mut found);
        }
        if let Some(plan) = the_same(found) {
            merges.insert(input, Merge { plan });
        }
    }
    merges
}

/// The plan that all of them are, if they are the same.
fn the_same(found: Vec<Option<Arc<dyn ExecutionPlan>>>) -> Option<Arc<dyn ExecutionPlan>> {
    let mut found = found.into_iter();
    let first = found.next()??;
    let identity = Identity::of(&first);
    let is_first = |other: Option<Arc<dyn ExecutionPlan>>| {
        other.is_some_and(|other| Identity::of(&other).is(&identity))
    };
    found.all(is_first).then_some(first)
}

/// Stages whose batches have to stay apart: DataFusion 55 merges only the first row of a batch of
/// states of `percentile_cont` without GROUP BY, and each fragment's state is a batch of one row.
pub fn find_batches_to_keep(plan: &SessionPlan) -> HashSet<StageId> {
    let mut keep = HashSet::new();
    for stage in &plan.stages {
        let walked = stage.plan.apply(|node| {
            let aggregate = (node.as_ref() as &dyn Any).downcast_ref::<AggregateExec>();
            if aggregate.is_some_and(|aggregate| aggregate.group_expr().is_empty()) {
                let inputs = node.children().into_iter().filter_map(|child| LeafExec::of(child));
                keep.extend(inputs.filter_map(|leaf| match leaf {
                    Leaf::Stage(input) => Some(*input),
                    Leaf::Table { .. } => None,
                }));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        walked.expect("the walk's closure never fails");
    }
    keep
}

/// Merges that the operators which read the input directly would allow, one of each.
fn collect_merges(
    reader: &Arc<dyn ExecutionPlan>,
    input: StageId,
    found: &mut Vec<Option<Arc<dyn ExecutionPlan>>>,
) {
    let reads = |plan: &Arc<dyn ExecutionPlan>| matches!(LeafExec::of(plan), Some(Leaf::Stage(stage)) if *stage == input);
    if reads(reader) {
        found.push(None);
        return;
    }
    reader
        .apply(|node| {
            for child in node.children().into_iter().filter(|child| reads(child)) {
                found.push(merge_like(node, child));
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .expect("the walk's closure never fails");
}

fn merge_like(
    reader: &Arc<dyn ExecutionPlan>,
    leaf: &Arc<dyn ExecutionPlan>,
) -> Option<Arc<dyn ExecutionPlan>> {
    let node = reader.as_ref() as &dyn Any;
    if let Some(sort) = node.downcast_ref::<SortExec>() {
        return sort.fetch().map(|_| Arc::clone(reader));
    }
    if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
        return (limit.skip() == 0 && limit.fetch().is_some()).then(|| Arc::clone(reader));
    }
    let aggregate = node.downcast_ref::<AggregateExec>()?;
    if !matches!(aggregate.mode(), AggregateMode::Final | AggregateMode::FinalPartitioned) {
        return None;
    }
    let reduce = AggregateExec::try_new(
        AggregateMode::PartialReduce,
        aggregate.group_expr().clone(),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::clone(leaf),
        aggregate.input_schema(),
    )
    .ok()?;
    let same_kind = reduce.schema().fields() == leaf.schema().fields();
    same_kind.then(|| Arc::new(reduce) as Arc<dyn ExecutionPlan>)
}
