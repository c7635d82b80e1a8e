//! Partitioning of rows over shards.

use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::{ShardId, Source};
use caudal_planner::Distribution;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::repartition::BatchPartitioner;

/// Divides the rows of a fragment; the result has an entry for each shard that gets any.
pub fn distribute(
    batches: Vec<RecordBatch>,
    distribution: &Distribution,
    to: &[ShardId],
    shards: usize,
    spread_key: usize,
) -> Result<Vec<(ShardId, Vec<RecordBatch>)>> {
    if batches.is_empty() {
        return Ok(vec![]);
    }
    match distribution {
        Distribution::Gather | Distribution::Broadcast => {
            Ok(to.iter().map(|shard| (*shard, batches.clone())).collect())
        }
        Distribution::Spread => Ok(vec![((spread_key % shards).into(), batches)]),
        Distribution::Hash(_) if shards == 1 => Ok(vec![(0.into(), batches)]),
        Distribution::Hash(keys) => by_hash(batches, keys, shards),
    }
}

/// The key by which rows are spread: never of the run, or a repetition would go elsewhere.
pub fn spread_key(source: Source, number: u32) -> usize {
    match source {
        Source::Table(_) => number as usize,
        Source::Shard { shard, .. } => shard.index(),
    }
}

fn by_hash(
    batches: Vec<RecordBatch>,
    keys: &[Arc<dyn PhysicalExpr>],
    shards: usize,
) -> Result<Vec<(ShardId, Vec<RecordBatch>)>> {
    let mut partitioner =
        BatchPartitioner::new_hash_partitioner(keys.to_vec(), shards, Default::default())?;
    let mut divided = vec![vec![]; shards];
    for batch in batches {
        partitioner.partition(batch, |shard, rows| {
            divided[shard].push(rows);
            Ok(())
        })?;
    }
    let divided = divided.into_iter().enumerate();
    Ok(divided
        .filter(|(_, batches)| !batches.is_empty())
        .map(|(shard, batches)| (shard.into(), batches))
        .collect())
}
