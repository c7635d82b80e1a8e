//! A stage: what runs between two exchanges.

use std::sync::Arc;

use caudal_core::{QueryId, ShardId, Source, StageId, TableId};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlan;

use crate::early::Early;
use crate::exchange::Distribution;
use crate::leaf::{Leaf, LeafExec};

#[derive(Clone, Debug)]
pub struct Stage {
    pub id: StageId,
    /// Plan that it runs, over [`LeafExec`]s.
    pub plan: Arc<dyn ExecutionPlan>,
    pub placement: Placement,
    /// The stages it reads, each once.
    pub inputs: Vec<StageId>,
    pub output: Output,
    /// The queries that need it: those that fail when it does.
    pub queries: Vec<QueryId>,
    /// Early answers that it may give, before its inputs are complete.
    pub early: Option<Early>,
}

/// Place where a stage runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On each fragment of these tables, by any worker.
    Map { tables: Vec<TableId> },
    /// Once on every shard.
    EveryShard,
    /// Once, on this shard.
    OneShard(ShardId),
}

/// Destination of a stage's rows.
#[derive(Clone, Debug)]
pub enum Output {
    /// To the shards of the stages that read it.
    Shards { distribution: Distribution, to: Vec<ShardId> },
    /// To the client.
    Result(QueryId),
}

impl Stage {
    /// Whether this shard runs the stage.
    pub fn runs_on(&self, shard: ShardId) -> bool {
        match self.placement {
            Placement::Map { .. } => false,
            Placement::EveryShard => true,
            Placement::OneShard(home) => home == shard,
        }
    }

    /// The sources of the fragments it sends: a map stage's keep the numbers of its tables.
    pub fn sources(&self, shards: usize) -> Vec<Source> {
        let stage = self.id;
        match &self.placement {
            Placement::Map { tables } => tables.iter().map(|table| Source::Table(*table)).collect(),
            Placement::EveryShard => {
                (0..shards).map(|shard| Source::Shard { stage, shard: shard.into() }).collect()
            }
            Placement::OneShard(shard) => vec![Source::Shard { stage, shard: *shard }],
        }
    }

    /// Whether what it sends arrives at this shard (empty fragments as bare headers).
    pub fn sends_to(&self, shard: ShardId) -> bool {
        matches!(&self.output, Output::Shards { to, .. } if to.contains(&shard))
    }
}

/// The leaves of a plan, in the order they stand.
pub fn leaves(plan: &Arc<dyn ExecutionPlan>) -> Vec<Leaf> {
    let mut leaves = vec![];
    plan.apply(|node| {
        leaves.extend(LeafExec::of(node).cloned());
        Ok(TreeNodeRecursion::Continue)
    })
    .expect("collecting leaves cannot fail");
    leaves
}
