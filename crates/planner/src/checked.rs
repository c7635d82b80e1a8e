//! Pass: arithmetic of integers and decimals that is an error where it does not fit, instead of wrapping.
//!
//! ```text
//! Projection: a + b * Int64(2)     ==>     Projection: checked_add(a, checked_multiply(b, Int64(2)))
//! ```
//!
//! It is a step of DataFusion's analyzer, after types have been made equal and before anything is simplified: so
//! that constants are folded by the same functions, and whatever the optimizer moves or copies is checked.
//! A function that fails on constants is not folded but left to fail when it is run: in a row that a CASE or a
//! filter keeps away from it, it does not. That is as it is with a division by zero.
//! Floats, dates, times and intervals are left alone: the former do not wrap, the latter are checked already.

use arrow::datatypes::DataType;
use caudal_functions::checked::{Checked, Operation, is_exact, type_of};
use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, ScalarUDF, cast};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;
use datafusion::sql::sqlparser::ast::BinaryOperator;

use crate::expressions;

#[derive(Debug)]
pub struct CheckedArithmetic;

impl AnalyzerRule for CheckedArithmetic {
    fn name(&self) -> &str {
        "checked_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        expressions::rewrite(plan, check)
    }
}

/// The same for constants that overflow, as soon as they are read: the arguments of a table function are computed before
/// there is a plan to analyze.
#[derive(Debug)]
pub struct CheckedConstants;

impl ExprPlanner for CheckedConstants {
    fn plan_binary_op(
        &self,
        expression: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        if expression.op == BinaryOperator::Divide && divides_decimals(&expression, schema) {
            let RawBinaryExpr { left, right, .. } = expression;
            return Ok(PlannerResult::Planned(call(Operation::Divide, vec![left, right])));
        }
        if expression.op == BinaryOperator::Multiply {
            let kind = |side: &Expr| type_of(side, schema).ok();
            let (left, right) = (kind(&expression.left), kind(&expression.right));
            if let (Some(left), Some(right)) = (left, right)
                && (is_interval(&left) && right.is_integer()
                    || left.is_integer() && is_interval(&right))
            {
                let RawBinaryExpr { left: one, right: other, .. } = expression;
                let wide = |side: Expr, kind: &DataType| match kind.is_integer() {
                    true => cast(side, DataType::Int64),
                    false => side,
                };
                let factors = vec![wide(one, &left), wide(other, &right)];
                return Ok(PlannerResult::Planned(call(Operation::Multiply, factors)));
            }
        }
        let operation = match expression.op {
            BinaryOperator::Plus => Operation::Add,
            BinaryOperator::Minus => Operation::Subtract,
            BinaryOperator::Multiply => Operation::Multiply,
            _ => return Ok(PlannerResult::Original(expression)),
        };
        let (Some(left), Some(right)) = (constant(&expression.left), constant(&expression.right))
        else {
            return Ok(PlannerResult::Original(expression));
        };
        if computed(operation, left, right).is_some() {
            return Ok(PlannerResult::Original(expression));
        }
        let RawBinaryExpr { left, right, .. } = expression;
        Ok(PlannerResult::Planned(call(operation, vec![left, right])))
    }
}

/// Before types are made equal: what is around a quotient has to know that it is a float.
fn divides_decimals(division: &RawBinaryExpr, schema: &DFSchema) -> bool {
    match (type_of(&division.left, schema), type_of(&division.right, schema)) {
        (Ok(left), Ok(right)) => {
            is_exact(&left) && is_exact(&right) && (left.is_decimal() || right.is_decimal())
        }
        _ => false,
    }
}

/// Of months, days and nanoseconds, as INTERVAL says it. DataFusion has no product of it and a number.
fn is_interval(kind: &DataType) -> bool {
    matches!(kind, DataType::Interval(_))
}

/// The value of constants that do not overflow.
fn constant(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::Literal(ScalarValue::Int64(value), _) => *value,
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            computed(Operation::of(*op)?, constant(left)?, constant(right)?)
        }
        _ => None,
    }
}

fn computed(operation: Operation, left: i64, right: i64) -> Option<i64> {
    match operation {
        Operation::Add => left.checked_add(right),
        Operation::Subtract => left.checked_sub(right),
        Operation::Multiply => left.checked_mul(right),
        Operation::Divide | Operation::Negate => None,
    }
}

fn check(expression: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (of_left, of_right) = (type_of(&left, schema)?, type_of(&right, schema)?);
            match Operation::of(op) {
                Some(operation) if is_exact(&of_left) && is_exact(&of_right) => {
                    Ok(Transformed::yes(call(operation, vec![*left, *right])))
                }
                _ => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
            }
        }
        Expr::Negative(value) if type_of(&value, schema)?.is_integer() => {
            Ok(Transformed::yes(call(Operation::Negate, vec![*value])))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn call(operation: Operation, arguments: Vec<Expr>) -> Expr {
    ScalarUDF::new_from_impl(Checked::new(operation)).call(arguments)
}
