//! A guard around DataFusion's rule that makes keys of a join's conditions: one of its keys compares NULLs as equal for all.
//!
//! ```text
//! Inner Join: a.y = b.y                       Inner Join: a.x <=> b.x, a.y <=> b.y     matches
//!   (a.x <=> b.x, NULL equals NULL)    =/=>                                            NULL with NULL
//! ```
//!
//! `a.x IS NOT DISTINCT FROM b.x` alone becomes a key of a join that compares NULLs as equal. An equality that comes later, pushed
//! down from a WHERE, would be added to the same keys, and find NULLs equal. It stays in the join's filter.

use datafusion::common::{NullEquality, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;

use crate::guard::{self, Verdict};

/// The same state, its rule guarded.
pub fn guarded(state: SessionState) -> SessionState {
    guard::around(state, &["extract_equijoin_predicate"], judged)
}

fn judged(plan: LogicalPlan, _: Option<ApplyOrder>) -> Result<Verdict> {
    let finds_nulls_equal = match &plan {
        LogicalPlan::Join(join) => {
            !join.on.is_empty() && join.null_equality == NullEquality::NullEqualsNull
        }
        _ => false,
    };
    Ok(if finds_nulls_equal { Verdict::Kept(plan) } else { Verdict::Shown(plan) })
}
