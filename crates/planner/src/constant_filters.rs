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

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

const PUSHES_FILTERS: &str = "push_down_filter";

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The same state, its rule guarded.
pub fn guarded(state: SessionState) -> SessionState {
    let rules = state.optimizers().iter().cloned().map(|rule| -> Rule {
        match rule.name() {
            PUSHES_FILTERS => Arc::new(Guarded { rule }),
            _ => rule,
        }
    });
    let rules: Vec<Rule> = rules.collect();
    debug_assert!(rules.iter().any(|rule| rule.name() == PUSHES_FILTERS), "it is a rule");
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

#[derive(Debug)]
struct Guarded {
    rule: Rule,
}

impl OptimizerRule for Guarded {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match is_constant_over_one_row(&plan) {
            true => Ok(Transformed::no(plan)),
            false => self.rule.rewrite(plan, config),
        }
    }
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
