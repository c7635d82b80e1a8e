//! A guard around DataFusion's rule that drops keys of GROUP BY.
//!
//! ```text
//! Aggregate: f, CAST(f AS TEXT)     =/=>     Projection: f, CAST(f AS TEXT)
//!   TableScan: t                               Aggregate: f
//!                                                TableScan: t
//! ```
//!
//! What is computed of another key is the same in all of a group, but for floats: `-0.0` and `0.0` are equal, their texts are not.

use datafusion::common::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;

use crate::guard::{self, Verdict};

/// The same state, its rule guarded.
pub fn guarded(state: SessionState) -> SessionState {
    guard::around(state, &["eliminate_group_by_constant"], judged)
}

fn judged(plan: LogicalPlan, _: Option<ApplyOrder>) -> Result<Verdict> {
    Ok(match &plan {
        LogicalPlan::Aggregate(aggregate) if groups_by_floats(aggregate) => Verdict::Kept(plan),
        _ => Verdict::Shown(plan),
    })
}

fn groups_by_floats(aggregate: &Aggregate) -> bool {
    let input = aggregate.input.schema();
    let is_float = |key: &Expr| key.get_type(input).is_ok_and(|kind| kind.is_floating());
    aggregate.group_expr.iter().any(|key| matches!(key, Expr::Column(_)) && is_float(key))
}
