//! Pass: a CASE of truth values keeps guarding what it guards.
//!
//! ```text
//! CASE WHEN z = 0 THEN false ELSE 10 / z > 2 END
//!   ==>  as_is(CASE WHEN z = 0 THEN 0 ELSE CAST(10 / z > 2 AS INT) END) = 1
//! ```
//!
//! DataFusion makes ANDs and ORs of it, which compute all of their sides: that divides by zero. A CASE of numbers it leaves alone. One
//! whose results cannot fail may become what it likes.

use arrow::datatypes::DataType;
use caudal_functions::exact::as_is;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Between, Case, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast, lit};
use datafusion::scalar::ScalarValue;

use crate::expressions;

pub fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, |part, schema| match part {
        Expr::Case(case) if is_truth(&case, schema) && guards(&case, schema) => {
            let Case { expr, when_then_expr, else_expr } = case;
            let number = |value: Box<Expr>| Box::new(as_number(*value));
            let cases = when_then_expr.into_iter().map(|(when, then)| (when, number(then)));
            let when_then_expr = cases.collect();
            let else_expr = else_expr.map(number);
            let case = Expr::Case(Case { expr, when_then_expr, else_expr });
            Ok(Transformed::yes(as_is().call(vec![case]).eq(lit(1_i32))))
        }
        other => Ok(Transformed::no(other)),
    })
}

fn is_truth(case: &Case, schema: &DFSchema) -> bool {
    results(case).any(|value| kind(value, schema) == Some(DataType::Boolean))
}

fn kind(value: &Expr, schema: &DFSchema) -> Option<DataType> {
    value.get_type(schema).ok()
}

fn as_number(truth: Expr) -> Expr {
    match truth {
        Expr::Literal(ScalarValue::Boolean(truth), _) => {
            lit(ScalarValue::Int32(truth.map(i32::from)))
        }
        other => cast(other, DataType::Int32),
    }
}

fn results(case: &Case) -> impl Iterator<Item = &Expr> {
    let thens = case.when_then_expr.iter().map(|(_, then)| then.as_ref());
    thens.chain(case.else_expr.as_deref())
}

/// Whether some row may have to be kept from a result, or from a condition that is not the first.
fn guards(case: &Case, schema: &DFSchema) -> bool {
    let others = case.when_then_expr.iter().skip(1).map(|(when, _)| when.as_ref());
    results(case).chain(others).any(|value| may_fail(value, schema))
}

/// Named is what cannot fail, whatever it is given; all else may.
fn may_fail(value: &Expr, schema: &DFSchema) -> bool {
    let fails = |part: &Expr| {
        Ok(match part {
            Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }) => false,
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                !op.supports_propagation() || differ(&[left, right], schema)
            }
            Expr::Between(Between { expr, low, high, .. }) => differ(&[expr, low, high], schema),
            Expr::InList(InList { expr, list, .. }) => {
                differ(&list.iter().chain([expr.as_ref()]).collect::<Vec<_>>(), schema)
            }
            Expr::Alias(_)
            | Expr::Column(_)
            | Expr::OuterReferenceColumn(..)
            | Expr::Literal(..)
            | Expr::Like(_)
            | Expr::Not(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsTrue(_)
            | Expr::IsFalse(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNotFalse(_)
            | Expr::IsNotUnknown(_)
            | Expr::Exists(_)
            | Expr::InSubquery(_)
            | Expr::ScalarSubquery(_)
            | Expr::SetComparison(_)
            | Expr::Case(_) => false,
            _ => true,
        })
    };
    value.exists(fails).unwrap_or(true)
}

/// Whether they have to be made one type by what may fail: a text that becomes a number.
fn differ(values: &[&Expr], schema: &DFSchema) -> bool {
    let is_text = |value: &&&Expr| kind(value, schema).is_some_and(|kind| kind.is_string());
    let is_null = |value: &&&Expr| kind(value, schema).is_some_and(|kind| kind.is_null());
    let texts = values.iter().filter(is_text).count();
    texts > 0 && texts + values.iter().filter(is_null).count() < values.len()
}
