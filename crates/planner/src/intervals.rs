//! Pass: intervals are compared by their lengths.
//!
//! ```text
//! a < INTERVAL '25 hours'         interval_key(a) < interval_key('25 hours')
//! t - u > INTERVAL '1 day'  ==>   interval_key(t - u) > interval_key('1 day')
//! ```
//!
//! DataFusion compares months, then days, then the rest, so that a day is longer than 25 hours and is not 24. Where equal intervals would
//! become one of them (GROUP BY, DISTINCT, set operations, `min`, `max`), there is no saying which: that is
//! [refused](crate::refusals). What sorts them is in [`sort_keys`](crate::sort_keys).

use arrow::datatypes::{DataType, IntervalUnit};
use caudal_functions::exact::interval_key;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Between, Case, InList, InSubquery, SetComparison};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, GroupingSet, LogicalPlan, binary_expr, cast,
};

use crate::expressions::rewrite_node;

pub fn compare(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        rewrite_node(node, compared)?.transform_data(|node| match node {
            LogicalPlan::Join(mut join) => {
                let mut changed = false;
                for (left, right) in &mut join.on {
                    let of_left = left.get_type(join.left.schema()).ok();
                    let of_right = right.get_type(join.right.schema()).ok();
                    if [&of_left, &of_right].into_iter().flatten().any(is_interval) {
                        *left = key(std::mem::take(left), of_left);
                        *right = key(std::mem::take(right), of_right);
                        changed = true;
                    }
                }
                Ok(Transformed::new_transformed(LogicalPlan::Join(join), changed))
            }
            other => Ok(Transformed::no(other)),
        })
    })
    .data()
}

fn compared(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let keys = |values: Vec<&Expr>| -> Option<Vec<Expr>> {
        let kinds: Vec<_> = values.iter().map(|value| value.get_type(schema).ok()).collect();
        kinds.iter().flatten().any(is_interval).then(|| {
            let values = values.into_iter().cloned().zip(kinds);
            values.map(|(value, kind)| key(value, kind)).collect()
        })
    };
    let made = match &part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            keys(vec![left, right]).map(|mut keys| {
                let right = keys.pop().unwrap_or_default();
                binary_expr(keys.pop().unwrap_or_default(), *op, right)
            })
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            keys(vec![high, low, expr]).map(|mut keys| {
                let mut next = || Box::new(keys.pop().unwrap_or_default());
                let (expr, low, high) = (next(), next(), next());
                Expr::Between(Between { expr, negated: *negated, low, high })
            })
        }
        Expr::InList(InList { expr, list, negated }) => {
            keys(list.iter().chain([expr.as_ref()]).collect()).map(|mut list| {
                let expr = Box::new(list.pop().unwrap_or_default());
                Expr::InList(InList { expr, list, negated: *negated })
            })
        }
        Expr::Case(Case { expr: Some(value), when_then_expr, else_expr }) => {
            let whens = when_then_expr.iter().map(|(when, _)| when.as_ref());
            keys(whens.chain([value.as_ref()]).collect()).map(|mut whens| {
                let value = Box::new(whens.pop().unwrap_or_default());
                let thens = when_then_expr.iter().map(|(_, then)| then.clone());
                let cases = whens.into_iter().map(Box::new).zip(thens).collect();
                let else_expr = else_expr.clone();
                Expr::Case(Case { expr: Some(value), when_then_expr: cases, else_expr })
            })
        }
        _ => None,
    };
    Ok(match made {
        Some(made) => Transformed::yes(made),
        None => Transformed::no(part),
    })
}

/// Beside an interval a text is one.
fn key(value: Expr, kind: Option<DataType>) -> Expr {
    match kind {
        Some(DataType::Interval(_) | DataType::Duration(_)) => interval_key().call(vec![value]),
        Some(DataType::Null) => value,
        _ => {
            let interval = cast(value, DataType::Interval(IntervalUnit::MonthDayNano));
            interval_key().call(vec![interval])
        }
    }
}

fn is_interval(kind: &DataType) -> bool {
    matches!(kind, DataType::Interval(_))
}

/// Operation of a node on intervals that has no single right answer, if there is one.
pub fn refused_in_node(node: &LogicalPlan) -> Option<&'static str> {
    let has_intervals =
        |schema: &DFSchema| schema.fields().iter().any(|field| is_interval(field.data_type()));
    match node {
        LogicalPlan::Aggregate(aggregate) => {
            let schema = aggregate.input.schema();
            let is_key = |value: &Expr| value.get_type(schema).is_ok_and(|kind| is_interval(&kind));
            let keys = aggregate.group_expr.iter();
            let mut keys = keys.flat_map(|key| match key {
                Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
                    sets.iter().flatten().collect()
                }
                Expr::GroupingSet(GroupingSet::Rollup(keys) | GroupingSet::Cube(keys)) => {
                    keys.iter().collect()
                }
                other => vec![other],
            });
            keys.any(is_key).then_some("GROUP BY")
        }
        LogicalPlan::Distinct(distinct) => {
            has_intervals(distinct.input().schema()).then_some("DISTINCT")
        }
        _ => None,
    }
}

/// The same of an expression.
pub fn refused_in_part(part: &Expr, schema: &DFSchema) -> Option<&'static str> {
    let is_one = |value: &Expr| value.get_type(schema).is_ok_and(|kind| is_interval(&kind));
    match part {
        Expr::AggregateFunction(call) if call.params.args.iter().any(is_one) => {
            match call.func.name() {
                "min" => Some("min"),
                "max" => Some("max"),
                "count" => None,
                _ if call.params.distinct => Some("DISTINCT"),
                _ => None,
            }
        }
        Expr::WindowFunction(call) if call.params.args.iter().any(is_one) => {
            match call.fun.name() {
                "min" => Some("min"),
                "max" => Some("max"),
                _ => None,
            }
        }
        Expr::ScalarFunction(call) if call.args.iter().any(is_one) => match call.name() {
            "greatest" => Some("greatest"),
            "least" => Some("least"),
            "nullif" => Some("nullif"),
            _ => None,
        },
        Expr::InSubquery(InSubquery { expr, .. })
        | Expr::SetComparison(SetComparison { expr, .. })
            if is_one(expr) =>
        {
            Some("IN with a subquery")
        }
        _ => None,
    }
}
