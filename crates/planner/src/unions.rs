//! Pass: unions of inputs that live in different places.
//!
//! ```text
//! UnionExec                              UnionExec
//!   table t                       ==>      Exchange: spread over the shards
//!   AggregateExec: mode=Final                table t
//!     Exchange: gathered                   Exchange: spread over the shards
//!                                            AggregateExec: mode=Final
//!                                              Exchange: gathered
//! ```
//!
//! Without the exchange, every shard would run the aggregate over nothing and add a row of its own.
//!
//! ```text
//! InterleaveExec                         CoalescePartitionsExec
//!   AggregateExec (by hash of a)  ==>      UnionExec
//!   AggregateExec (by hash of a)             AggregateExec (by hash of a)
//!                                            AggregateExec (by hash of a)
//! ```
//!
//! An interleaving relies on the partitions of its inputs being numbered alike. In a shard there is
//! one partition of each, and what is above needs their rows together.

use std::any::Any;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};

use crate::region::{region_of, sharded};

pub fn is_union(plan: &Arc<dyn ExecutionPlan>) -> bool {
    (plan.as_ref() as &dyn Any).is::<UnionExec>()
}

pub fn is_interleave(plan: &Arc<dyn ExecutionPlan>) -> bool {
    (plan.as_ref() as &dyn Any).is::<InterleaveExec>()
}

pub fn replace_interleave(children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(Arc::new(CoalescePartitionsExec::new(UnionExec::try_new(children)?)))
}

pub fn align_union(children: Vec<Arc<dyn ExecutionPlan>>) -> Vec<Arc<dyn ExecutionPlan>> {
    let first = region_of(&children[0]);
    if children.iter().all(|child| region_of(child) == first) {
        return children;
    }
    children.into_iter().map(sharded).collect()
}
