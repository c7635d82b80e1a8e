//! Pass: a LIMIT that ends beyond 64 bits is none.
//!
//! ```text
//! Limit: skip=1, fetch=9223372036854775807     ==>     Limit: skip=1, fetch=None
//! ```
//!
//! DataFusion adds the two, and takes a sum that wraps for a LIMIT below zero. No table has that many rows.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::logical_expr::{FetchType, Limit, LogicalPlan, SkipType};

pub fn drop(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Limit(mut limit) if ends_beyond(&limit) => {
            limit.fetch = None;
            Ok(Transformed::yes(LogicalPlan::Limit(limit)))
        }
        other => Ok(Transformed::no(other)),
    })
    .data()
}

fn ends_beyond(limit: &Limit) -> bool {
    match (limit.get_skip_type(), limit.get_fetch_type()) {
        (Ok(SkipType::Literal(skip)), Ok(FetchType::Literal(Some(fetch)))) => {
            skip.checked_add(fetch).is_none_or(|end| i64::try_from(end).is_err())
        }
        _ => false,
    }
}
