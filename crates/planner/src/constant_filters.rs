//! A guard around DataFusion's rule that pushes filters down.
//!
//! ```text
//! Filter: 2 = 5                            Aggregate: count(*)          gives a row,
//!   Aggregate: count(*)         =/=>         Filter: 2 = 5              whatever it counts
//!     TableScan: t                             TableScan: t
//! ```
//!
//! A condition without columns is on no column that is not grouped by, so the rule would push it below an aggregate over all rows.
//! It stays above. (Such conditions come of columns that are constants: `SELECT 2 AS x FROM (SELECT count(*) ...)`.)

use datafusion::common::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;

use crate::comparisons::kept_apart;
use crate::guard::{self, Verdict};

/// The same state, its rule guarded, here and by [`kept_apart`].
pub fn guarded(state: SessionState) -> SessionState {
    guard::around(state, &["push_down_filter"], judged)
}

fn judged(plan: LogicalPlan, _: Option<ApplyOrder>) -> Result<Verdict> {
    Ok(match is_constant_over_one_row(&plan) {
        true => Verdict::Kept(plan),
        false => Verdict::Shown(kept_apart(plan)),
    })
}

/// Also with other filters between: the rule joins them to one before it pushes that.
fn is_constant_over_one_row(plan: &LogicalPlan) -> bool {
    let (mut node, mut is_constant) = (plan, false);
    while let LogicalPlan::Filter(filter) = node {
        let conditions = split_conjunction(&filter.predicate);
        is_constant |= conditions.into_iter().any(|condition| !condition.any_column_refs());
        node = filter.input.as_ref();
    }
    let LogicalPlan::Aggregate(aggregate) = node else { return false };
    let may_be_one = |key: &Expr| matches!(key, Expr::GroupingSet(_));
    is_constant && aggregate.group_expr.iter().all(may_be_one)
}
