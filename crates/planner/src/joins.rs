//! Pass: joins that collect their left input (cross, nested loop, `CollectLeft`).
//!
//! ```text
//! CrossJoinExec                                  CrossJoinExec
//!   Exchange: gathered in one shard       ==>      Exchange: to every shard
//!     AggregateExec: mode=Partial                    AggregateExec: mode=Partial
//!   AggregateExec: mode=FinalPartitioned           AggregateExec: mode=FinalPartitioned
//! ```
//!
//! The collected side goes to every shard of the stage. That is right only where a row of the left
//! side is never answered for by itself: a shard that finds no match for it must not say so, for
//! another shard may. Any other join gathers both its inputs into one shard.

use std::any::Any;
use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec};

use crate::exchange::{Distribution, ExchangeExec};
use crate::region::{Region, gathered, region_of, sharded};

pub fn align_collecting(
    join: &Arc<dyn ExecutionPlan>,
    children: Vec<Arc<dyn ExecutionPlan>>,
) -> Vec<Arc<dyn ExecutionPlan>> {
    let [left, right]: [_; 2] = children.try_into().expect("a join has two inputs");
    if !broadcasts_left(join) || region_of(&right) == Region::Single {
        return vec![gathered(left), gathered(right)];
    }
    vec![ExchangeExec::over(left, Distribution::Broadcast), sharded(right)]
}

fn broadcasts_left(join: &Arc<dyn ExecutionPlan>) -> bool {
    let node = join.as_ref() as &dyn Any;
    let (join_type, null_aware) = if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        (*join.join_type(), join.null_aware)
    } else if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        (*join.join_type(), false)
    } else {
        (JoinType::Inner, false)
    };
    !null_aware
        && matches!(
            join_type,
            JoinType::Inner
                | JoinType::Right
                | JoinType::RightSemi
                | JoinType::RightAnti
                | JoinType::RightMark
        )
}
