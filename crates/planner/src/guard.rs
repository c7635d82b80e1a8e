//! Guards around rules of DataFusion's optimizer: one is asked before its rule is.

use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// Verdict of a guard on a plan that its rule is about to see.
pub enum Verdict {
    /// The rule sees this instead, which means the same.
    Shown(LogicalPlan),
    /// The rule does not see it.
    Kept(LogicalPlan),
}

pub type Guard = fn(LogicalPlan, Option<ApplyOrder>) -> Result<Verdict>;

/// The same state, these of its rules guarded.
pub fn around(state: SessionState, names: &[&str], guard: Guard) -> SessionState {
    let rules = state.optimizers().iter().cloned().map(|rule| -> Rule {
        match names.contains(&rule.name()) {
            true => Arc::new(Guarded { rule, guard }),
            false => rule,
        }
    });
    let rules: Vec<Rule> = rules.collect();
    let is_rule = |name: &&str| rules.iter().any(|rule| rule.name() == *name);
    debug_assert!(names.iter().all(is_rule), "they are rules");
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

struct Guarded {
    rule: Rule,
    guard: Guard,
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guarded({:?})", self.rule)
    }
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
        match (self.guard)(plan, self.rule.apply_order())? {
            Verdict::Shown(plan) => self.rule.rewrite(plan, config),
            Verdict::Kept(plan) => Ok(Transformed::no(plan)),
        }
    }
}
