//! Pass: `array_agg` and `string_agg` do not depend on the order of their rows where that goes wrong.
//!
//! ```text
//! Aggregate: string_agg(DISTINCT g ORDER BY g DESC)     ==>     the same, as one that asks for no order of its rows
//! Aggregate: string_agg(g ORDER BY g), string_agg(g ORDER BY k)     ==>     the second as such a one
//! ```
//!
//! Rows that are in the opposite order already turn ORDER BY around, and aggregates with DISTINCT take that at its word. Of two
//! orders that rows should have DataFusion refuses the second. Both put their values in order themselves
//! (`caudal_functions::exact::ordered`); the first without DISTINCT is left to sort its rows, which is faster.

use std::sync::Arc;

use caudal_functions::exact::ordered;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::expressions::rewrite_node;

pub fn settle(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::Aggregate(aggregate) = &node else { return Ok(Transformed::no(node)) };
        let sorted_by = first_order(&aggregate.aggr_expr);
        rewrite_node(node, |part, _| Ok(settled(part, sorted_by.as_deref())))
    })
    .data()
}

fn settled(part: Expr, sorted_by: Option<&[Sort]>) -> Transformed<Expr> {
    match part {
        Expr::AggregateFunction(call)
            if is_ordered(&call)
                && (call.params.distinct || sorted_by != Some(call.params.order_by.as_slice())) =>
        {
            let AggregateFunction { func, params } = call;
            let func = Arc::new(ordered(&func));
            Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params }))
        }
        other => Transformed::no(other),
    }
}

/// ORDER BY of the first aggregate whose rows may as well be sorted.
fn first_order(aggregates: &[Expr]) -> Option<Vec<Sort>> {
    let mut found = None;
    for aggregate in aggregates {
        let walked = aggregate.apply(|part| {
            Ok(match part {
                Expr::AggregateFunction(call) if is_ordered(call) && !call.params.distinct => {
                    found.get_or_insert_with(|| call.params.order_by.clone());
                    TreeNodeRecursion::Stop
                }
                _ => TreeNodeRecursion::Continue,
            })
        });
        debug_assert!(walked.is_ok(), "the walk's closure never fails");
    }
    found
}

fn is_ordered(call: &AggregateFunction) -> bool {
    ["array_agg", "string_agg"].contains(&call.func.name()) && !call.params.order_by.is_empty()
}
