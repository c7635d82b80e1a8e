//! Rule: a timestamp is compared with a constant in its own unit.
//!
//! ```text
//! as_is(CAST(t AS Timestamp(ns))) >= 2024-01-01 in ns     ==>     t >= 2024-01-01 in us
//! ```
//!
//! Constants in SQL are nanoseconds, columns of files microseconds. To make them equal DataFusion casts every row, and
//! [`casts`](crate::casts) keeps that as it is: years that nanoseconds do not reach are an error. Where the constant is a whole
//! number of the coarser unit it is cast instead, by which nothing is lost, no row is an error and none is computed.
//!
//! It is a rule of DataFusion's optimizer, right behind the one that computes constants.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::scalar::ScalarValue;

use crate::casts::seen;
use crate::expressions::rewrite_node;
use crate::times::units_a_second;

/// DataFusion's rule that computes constants.
const COMPUTES_CONSTANTS: &str = "simplify_expressions";

pub fn added(state: SessionState) -> SessionState {
    let mut rules = state.optimizers().to_vec();
    let before = rules.iter().position(|rule| rule.name() == COMPUTES_CONSTANTS);
    debug_assert!(before.is_some(), "it is a rule");
    rules.insert(before.map_or(rules.len(), |at| at + 1), Arc::new(ExactTimes));
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

#[derive(Debug)]
struct ExactTimes;

impl OptimizerRule for ExactTimes {
    fn name(&self) -> &str {
        "exact_times"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        node: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        rewrite_node(node, |part, schema| Ok(in_its_unit(part, schema)))
    }
}

fn in_its_unit(part: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = &part else {
        return Transformed::no(part);
    };
    if !is_comparison(*op) {
        return Transformed::no(part);
    }
    let compared = |left: Expr, right: Expr| {
        let (left, right) = (Box::new(left), Box::new(right));
        Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op: *op, right }))
    };
    if let Some((value, constant)) = uncast(left, right, schema) {
        return compared(value, constant);
    }
    match uncast(right, left, schema) {
        Some((value, constant)) => compared(constant, value),
        None => Transformed::no(part),
    }
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

/// What is cast to a finer unit, and the constant in the unit that it has; none where that is not exact.
fn uncast(side: &Expr, constant: &Expr, schema: &DFSchema) -> Option<(Expr, Expr)> {
    let Expr::Literal(constant, about) = constant else { return None };
    let Expr::Cast(Cast { expr, field }) = seen(side.clone()) else { return None };
    let DataType::Timestamp(coarse, None) = expr.get_type(schema).ok()? else { return None };
    let DataType::Timestamp(fine, None) = field.data_type() else { return None };
    let (of, value) = instant(constant)?;
    let step = units_a_second(*fine) / units_a_second(coarse);
    if of != *fine || step < 1 || value % step != 0 {
        return None;
    }
    let value = Some(value / step);
    let constant = match coarse {
        TimeUnit::Second => ScalarValue::TimestampSecond(value, None),
        TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(value, None),
        TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(value, None),
        TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(value, None),
    };
    Some((*expr, Expr::Literal(constant, about.clone())))
}

fn instant(constant: &ScalarValue) -> Option<(TimeUnit, i64)> {
    Some(match constant {
        ScalarValue::TimestampSecond(Some(value), None) => (TimeUnit::Second, *value),
        ScalarValue::TimestampMillisecond(Some(value), None) => (TimeUnit::Millisecond, *value),
        ScalarValue::TimestampMicrosecond(Some(value), None) => (TimeUnit::Microsecond, *value),
        ScalarValue::TimestampNanosecond(Some(value), None) => (TimeUnit::Nanosecond, *value),
        _ => return None,
    })
}
