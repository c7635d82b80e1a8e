//! Pass: expressions that DataFusion computes wrongly, said otherwise.
//!
//! ```text
//! CASE f WHEN 0.0 THEN 1 END          CASE WHEN f = 0.0 THEN 1 END
//! nullif(f, g)                  ==>   CASE WHEN f = g THEN NULL ELSE f END
//! day + INTERVAL '1 hour'             CAST(day AS TIMESTAMP) + INTERVAL '1 hour'
//! arrow_cast(t, 'Dictionary(K, V)')   arrow_cast(arrow_cast(t, 'V'), 'Dictionary(K, V)')
//! s LIKE 'a!%' ESCAPE '!'             s LIKE 'a\\%'
//! s SIMILAR TO '(a|b)%'               s ~ '(?s)^(?:(?:a|b).*)$'
//! CAST(f AS REAL)                     to_real(f)
//! ```
//!
//! The first two compare the bits of floats, so that `-0.0` is not `0.0`; the third loses the hours; the fourth takes times of one unit
//! for those of another; the fifth is refused; the sixth takes SQL's pattern for a regular expression; the last makes infinity of
//! what is too large.

use std::ops::Not;

use arrow::datatypes::{DataType, TimeUnit};
use caudal_functions::exact::{PatternKind, to_real};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Case, Cast, Like, TryCast};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, binary_expr, cast, lit, when,
};
use datafusion::scalar::ScalarValue;

use crate::expressions;

pub fn say_otherwise(plan: LogicalPlan) -> Result<LogicalPlan> {
    expressions::rewrite(plan, otherwise)
}

fn otherwise(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::Case(Case { expr: Some(value), when_then_expr, else_expr })
            if is_float(&value, schema) =>
        {
            let equal =
                |with: Box<Expr>| Box::new(binary_expr(*value.clone(), Operator::Eq, *with));
            let cases = when_then_expr.into_iter().map(|(with, then)| (equal(with), then));
            let case = Case { expr: None, when_then_expr: cases.collect(), else_expr };
            Ok(Transformed::yes(Expr::Case(case)))
        }
        Expr::ScalarFunction(ref call) if call.name() == "nullif" && call.args.len() == 2 => {
            let (value, other) = (call.args[0].clone(), call.args[1].clone());
            if !is_float(&value, schema) && !is_float(&other, schema) {
                return Ok(Transformed::no(part));
            }
            let differs = binary_expr(value.clone(), Operator::Eq, other).is_true().not();
            when(differs, value).end().map(Transformed::yes)
        }
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: op @ (Operator::Plus | Operator::Minus),
            right,
        }) if is_day(&left, schema) && has_hours(&right) => {
            Ok(Transformed::yes(binary_expr(midnight(*left), op, *right)))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Plus, right })
            if is_day(&right, schema) && has_hours(&left) =>
        {
            Ok(Transformed::yes(binary_expr(*left, Operator::Plus, midnight(*right))))
        }
        Expr::ScalarFunction(ref call)
            if ["arrow_cast", "arrow_try_cast"].contains(&call.name()) =>
        {
            match dictionary_values(&call.args) {
                Some(values) => {
                    let cast = call.func.call(vec![call.args[0].clone(), lit(values.to_string())]);
                    let cast = call.func.call(vec![cast, call.args[1].clone()]);
                    Ok(Transformed::yes(cast))
                }
                None => Ok(Transformed::no(part)),
            }
        }
        Expr::Like(like) if like.escape_char.is_some_and(|escape| escape != '\\') => {
            let pattern = translated(PatternKind::Like, *like.pattern, like.escape_char)?;
            let like = Like { pattern: Box::new(pattern), escape_char: None, ..like };
            Ok(Transformed::yes(Expr::Like(like)))
        }
        Expr::SimilarTo(like) => {
            let pattern = translated(PatternKind::SimilarTo, *like.pattern, like.escape_char)?;
            let operator = match like.negated {
                true => Operator::RegexNotMatch,
                false => Operator::RegexMatch,
            };
            Ok(Transformed::yes(binary_expr(*like.expr, operator, pattern)))
        }
        Expr::Cast(Cast { expr, field }) if is_narrowed(&expr, field.data_type(), schema) => {
            Ok(Transformed::yes(to_real(false).call(vec![*expr])))
        }
        Expr::TryCast(TryCast { expr, field }) if is_narrowed(&expr, field.data_type(), schema) => {
            Ok(Transformed::yes(to_real(true).call(vec![*expr])))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether a cast is one of a float to a smaller one.
fn is_narrowed(value: &Expr, to: &DataType, schema: &DFSchema) -> bool {
    *to == DataType::Float32 && value.get_type(schema).is_ok_and(|kind| kind == DataType::Float64)
}

fn is_float(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| kind.is_floating())
}

fn is_day(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| kind == DataType::Date32)
}

fn midnight(day: Expr) -> Expr {
    cast(day, DataType::Timestamp(TimeUnit::Nanosecond, None))
}

/// Whether it is an interval that may not be of whole days: what is computed of whole days is.
fn has_hours(interval: &Expr) -> bool {
    let has_hours = |part: &Expr| {
        Ok(match part {
            Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), _) => {
                interval.nanoseconds != 0
            }
            Expr::Literal(ScalarValue::IntervalDayTime(Some(interval)), _) => {
                interval.milliseconds != 0
            }
            Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => {
                matches!(field.data_type(), DataType::Interval(_))
            }
            _ => false,
        })
    };
    interval.exists(has_hours).unwrap_or(true)
}

/// The type of the values of a dictionary that is cast to.
fn dictionary_values(arguments: &[Expr]) -> Option<DataType> {
    let [_, Expr::Literal(ScalarValue::Utf8(Some(name)), _)] = arguments else { return None };
    match name.parse() {
        Ok(DataType::Dictionary(_, values)) => Some(*values),
        _ => None,
    }
}

/// A pattern as DataFusion understands it: now, if it is a constant.
fn translated(kind: PatternKind, pattern: Expr, escape: Option<char>) -> Result<Expr> {
    let escape = escape.unwrap_or('\\');
    match &pattern {
        Expr::Literal(value, _) => match value.try_as_str().flatten() {
            Some(text) => Ok(lit(kind.translate(text, escape)?)),
            None => Ok(pattern),
        },
        _ => {
            Ok(caudal_functions::exact::pattern(kind).call(vec![pattern, lit(escape.to_string())]))
        }
    }
}
