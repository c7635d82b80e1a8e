//! Pass: DataFusion's exchanges become ours.
//!
//! ```text
//! SortPreservingMergeExec: [n DESC], fetch=5      SortExec: TopK(fetch=5), expr=[n DESC]
//!   SortExec: TopK(fetch=5), expr=[n DESC]          Exchange: gathered in one shard
//!     AggregateExec: mode=FinalPartitioned   ==>      SortExec: TopK(fetch=5), expr=[n DESC]
//!       RepartitionExec: Hash([id], 2)                  AggregateExec: mode=FinalPartitioned
//!         AggregateExec: mode=Partial                     Exchange: by hash of id
//!           table t                                         AggregateExec: mode=Partial
//!                                                             table t
//! ```
//!
//! An exchange of ours forgets the order of what passes through it (fragments arrive as they
//! like), so where DataFusion relies on an order above one, the rows are sorted again.
//!
//! Nothing below a recursive query is cut: it runs its recursive term many times over, in one
//! place, by DataFusion's own exchanges. Only its tables are gathered, filters and projections first.

use std::any::Any;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_expr::Partitioning;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use crate::exchange::{Distribution, ExchangeExec};
use crate::leaf::{Leaf, LeafExec};
use crate::region::{is_recursive, with_children};

pub fn make_exchanges_explicit(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let recursive = is_recursive(&plan);
    let rewrite = if recursive { gather_tables } else { make_exchanges_explicit };
    let children = plan.children().into_iter().map(|child| rewrite(Arc::clone(child)));
    let plan = with_children(Arc::clone(&plan), children.collect::<Result<_>>()?)?;
    if recursive { Ok(plan) } else { replace_exchange(plan) }
}

fn replace_exchange(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let node = plan.as_ref() as &dyn Any;
    if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
        let gathered = ExchangeExec::over(Arc::clone(merge.input()), Distribution::Gather);
        let sort = SortExec::new(merge.expr().clone(), gathered).with_fetch(merge.fetch());
        return Ok(Arc::new(sort));
    }
    if let Some(coalesce) = node.downcast_ref::<CoalescePartitionsExec>() {
        return Ok(gather(Arc::clone(coalesce.input()), coalesce.fetch()));
    }
    if let Some(repartition) = node.downcast_ref::<RepartitionExec>() {
        return Ok(match repartition.partitioning() {
            Partitioning::Hash(keys, _) => sorted_again(
                &plan,
                ExchangeExec::over(
                    Arc::clone(repartition.input()),
                    Distribution::Hash(keys.clone()),
                ),
            ),
            // Made to keep one machine's cores busy; the fragments do that.
            Partitioning::RoundRobinBatch(_) | Partitioning::UnknownPartitioning(_) => {
                Arc::clone(repartition.input())
            }
            other => {
                return datafusion::common::not_impl_err!("an exchange by {other} cannot be cut");
            }
        });
    }
    Ok(plan)
}

/// Everything in one shard; with a limit, no fragment sends more than the limit.
fn gather(input: Arc<dyn ExecutionPlan>, fetch: Option<usize>) -> Arc<dyn ExecutionPlan> {
    let Some(fetch) = fetch else { return ExchangeExec::over(input, Distribution::Gather) };
    let limited = Arc::new(LocalLimitExec::new(input, fetch));
    let gathered = ExchangeExec::over(limited, Distribution::Gather);
    Arc::new(GlobalLimitExec::new(gathered, 0, Some(fetch)))
}

/// Restores, shard by shard, the order that DataFusion believes `before` to have.
fn sorted_again(
    before: &Arc<dyn ExecutionPlan>,
    exchange: Arc<dyn ExecutionPlan>,
) -> Arc<dyn ExecutionPlan> {
    match before.output_ordering() {
        Some(order) => {
            Arc::new(SortExec::new(order.clone(), exchange).with_preserve_partitioning(true))
        }
        None => exchange,
    }
}

fn gather_tables(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if reads_one_table(&plan) {
        return Ok(ExchangeExec::over(plan, Distribution::Gather));
    }
    let children = plan.children().into_iter().map(|child| gather_tables(Arc::clone(child)));
    with_children(Arc::clone(&plan), children.collect::<Result<_>>()?)
}

/// A table with nothing but filters and projections on top: what can be done before gathering.
fn reads_one_table(plan: &Arc<dyn ExecutionPlan>) -> bool {
    if let Some(leaf) = LeafExec::of(plan) {
        return matches!(leaf, Leaf::Table { .. });
    }
    let node = plan.as_ref() as &dyn Any;
    (node.is::<FilterExec>() || node.is::<ProjectionExec>()) && reads_one_table(plan.children()[0])
}
