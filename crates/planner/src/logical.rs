//! Passes over DataFusion's logical plan, before it is optimized: what it would get wrong is made right here,
//! or refused.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator};

use crate::error::Error;
use crate::refusals::{self, Refused};
use crate::spec::QuerySpec;
use crate::{
    calls, cases, copies, decimals, decorrelate, inner_orders, intervals, large_limits, nulls,
    one_type, only_row, orders, range_frames, shifts, sort_keys, subqueries, times, values,
};

pub fn rewrite(
    query: &QuerySpec,
    plan: LogicalPlan,
    invalid: impl Fn(DataFusionError) -> Error,
) -> Result<LogicalPlan, Error> {
    if let Some(Refused { message, hint }) = refusals::check(&plan) {
        let (query, hint) = (query.name.clone(), Some(hint));
        return Err(Error::Refused { query, message, hint, at: None });
    }
    let plan = one_type::settle(plan).map_err(&invalid)?;
    let plan = times::round(plan).map_err(&invalid)?;
    let plan = calls::say_otherwise(plan).map_err(&invalid)?;
    let plan = decimals::beside_floats(plan).map_err(&invalid)?;
    let plan = values::say_otherwise(plan).map_err(&invalid)?;
    let plan = cases::keep(plan).map_err(&invalid)?;
    let plan = intervals::compare(plan).map_err(&invalid)?;
    let plan = nulls::keep(plan).map_err(&invalid)?;
    let plan = shifts::widen(plan).map_err(&invalid)?;
    let refused = |message: String| {
        let hint = Some("join the tables instead".to_string());
        Error::Refused { query: query.name.clone(), message, hint, at: None }
    };
    let plan = decorrelate::unnest(plan).map_err(|error| match decorrelate::refusal(&error) {
        Some(message) => refused(message),
        None => invalid(error),
    })?;
    let plan = subqueries::join(plan).map_err(&invalid)?;
    if let Some(message) = subqueries::check(&plan) {
        return Err(refused(message));
    }
    let plan = only_row::enforce(plan).map_err(&invalid)?;
    let plan = large_limits::drop(plan).map_err(&invalid)?;
    let plan = copies::count(plan).map_err(&invalid)?;
    let plan = range_frames::widen(plan).map_err(&invalid)?;
    let plan = sort_keys::normalize(plan).map_err(&invalid)?;
    let plan = inner_orders::settle(plan).map_err(&invalid)?;
    orders::disclaim(plan).map_err(&invalid)
}

/// Whether a join compares NULLs as equal. DataFusion's rule that puts joins in another order forgets that, so such a query is
/// planned without it.
pub fn compares_nulls(plan: &LogicalPlan) -> bool {
    let is_distinct = |part: &Expr| {
        let Expr::BinaryExpr(binary) = part else { return Ok(false) };
        Ok(matches!(binary.op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom))
    };
    let mut found = false;
    let walked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            found |= expression.exists(is_distinct)?;
            Ok(TreeNodeRecursion::Continue)
        })
    });
    debug_assert!(walked.is_ok(), "the walk's closures never fail");
    found
}
