//! Rule: comparisons of floats with constants know that `-0.0` is `0.0`.
//!
//! ```text
//! x >= 0.0 AND x > -0.0       ==>     x >= 0.0 AND x > 0.0
//! x IN (0.0, 5.0, 6.0, 7.0)   ==>     float_key(x) IN (0.0, 5.0, 6.0, 7.0)
//! ```
//!
//! DataFusion puts conditions on the same thing together, and looks for values in lists, by the bits of floats. So there is one
//! zero among constants, whenever it simplifies them; and what is looked up in a list, once it has made its lists (also of
//! `x = 0.0 OR x = 5.0 OR ...`), is without the other.

use std::sync::Arc;

use caudal_functions::exact::float_key;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::scalar::ScalarValue;

use crate::expressions::rewrite_node;
use crate::subqueries::subquery_of;

const SIMPLIFIES: &str = "simplify_expressions";

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The same state, with the rule before constants are compared, and after lists have been made.
pub fn guarded(state: SessionState) -> SessionState {
    let mut rules: Vec<Rule> = vec![];
    for rule in state.optimizers() {
        if rule.name() == SIMPLIFIES {
            rules.push(Arc::new(OneZero));
        }
        rules.push(Arc::clone(rule));
    }
    debug_assert!(rules.len() > state.optimizers().len(), "it is a rule");
    rules.push(Arc::new(OneZero));
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

#[derive(Debug)]
struct OneZero;

impl OptimizerRule for OneZero {
    fn name(&self) -> &str {
        "one_zero"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        rewrite_node(plan, with_one_zero)
    }
}

fn with_one_zero(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if is_comparison(op) && is_float(&left, schema) =>
        {
            let (left, right) = (constant(*left), constant(*right));
            let changed = left.transformed || right.transformed;
            let both = BinaryExpr::new(Box::new(left.data), op, Box::new(right.data));
            Ok(Transformed::new_transformed(Expr::BinaryExpr(both), changed))
        }
        Expr::Between(Between { expr, negated, low, high }) if is_float(&expr, schema) => {
            let (low, high) = (constant(*low), constant(*high));
            let changed = low.transformed || high.transformed;
            let between = Between::new(expr, negated, Box::new(low.data), Box::new(high.data));
            Ok(Transformed::new_transformed(Expr::Between(between), changed))
        }
        Expr::InList(InList { expr, list, negated }) if is_float(&expr, schema) => {
            let value = key(*expr);
            let mut changed = value.transformed;
            let list = list.into_iter().map(|other| {
                let other = key(other);
                changed |= other.transformed;
                other.data
            });
            let list = InList::new(Box::new(value.data), list.collect(), negated);
            Ok(Transformed::new_transformed(Expr::InList(list), changed))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn is_float(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| kind.is_floating())
}

/// An operand: if it is a constant, without the negative zero. Columns are compared as numbers, and joined by.
fn constant(operand: Expr) -> Transformed<Expr> {
    let is_other = |part: &Expr| {
        let is_column = matches!(part, Expr::Column(_) | Expr::OuterReferenceColumn(..));
        Ok(is_column || subquery_of(part).is_some())
    };
    match operand.exists(is_other) {
        Ok(false) => key(operand),
        _ => Transformed::no(operand),
    }
}

/// A float without the negative zero.
fn key(value: Expr) -> Transformed<Expr> {
    match value {
        Expr::Literal(ScalarValue::Float64(Some(x)), about) => {
            let is_other = x == 0.0 && x.is_sign_negative();
            let zero = ScalarValue::Float64(Some(if is_other { 0.0 } else { x }));
            Transformed::new_transformed(Expr::Literal(zero, about), is_other)
        }
        Expr::Literal(ScalarValue::Float32(Some(x)), about) => {
            let is_other = x == 0.0 && x.is_sign_negative();
            let zero = ScalarValue::Float32(Some(if is_other { 0.0 } else { x }));
            Transformed::new_transformed(Expr::Literal(zero, about), is_other)
        }
        Expr::Literal(..) => Transformed::no(value),
        Expr::ScalarFunction(ref call) if call.name() == "float_key" => Transformed::no(value),
        other => Transformed::yes(float_key().call(vec![other])),
    }
}
