//! Pass: expressions that DataFusion computes wrongly, said otherwise.
//!
//! ```text
//! CASE f WHEN 0.0 THEN 1 END          CASE WHEN f = 0.0 THEN 1 END
//! nullif(f, g)                  ==>   CASE WHEN f = g THEN NULL ELSE f END
//! day + INTERVAL '1 hour'             CAST(day AS TIMESTAMP) + INTERVAL '1 hour'
//! ```
//!
//! The first two compare the bits of floats, so that `-0.0` is not `0.0`; the third loses the hours.

use std::ops::Not;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, binary_expr, cast, when,
};
use datafusion::scalar::ScalarValue;

pub fn say_otherwise(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let keeps_names = matches!(
            node,
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Window(_)
        );
        let rewritten = node.map_expressions(|expression| {
            let name = expression.schema_name().to_string();
            let rewritten = expression.transform_up(|part| otherwise(part, &schema))?;
            Ok(match rewritten.transformed && keeps_names {
                true => rewritten.update_data(|part| part.unalias().alias(name)),
                false => rewritten,
            })
        })?;
        match rewritten.transformed {
            true => rewritten.data.recompute_schema().map(Transformed::yes),
            false => Ok(rewritten),
        }
    })
    .data()
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
        }) if has_hours(&right)
            && left.get_type(schema).is_ok_and(|kind| kind == DataType::Date32) =>
        {
            let time = cast(*left, DataType::Timestamp(TimeUnit::Nanosecond, None));
            Ok(Transformed::yes(binary_expr(time, op, *right)))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn is_float(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| kind.is_floating())
}

/// An interval that is not of whole days.
fn has_hours(interval: &Expr) -> bool {
    match interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), _) => {
            interval.nanoseconds != 0
        }
        Expr::Literal(ScalarValue::IntervalDayTime(Some(interval)), _) => {
            interval.milliseconds != 0
        }
        _ => false,
    }
}
