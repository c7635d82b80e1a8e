//! Pass: what sorts, and DISTINCT inside of aggregates, knows which values are equal.
//!
//! ```text
//! Sort: t.f, t.k                          Sort: float_key(t.f), t.k
//! Sort: t.interval                        Sort: interval_key(t.interval)
//! rank() OVER (PARTITION BY t.f)   ==>    rank() OVER (PARTITION BY float_key(t.f))
//! array_agg(t.k ORDER BY t.f)             array_agg(t.k ORDER BY float_key(t.f))
//! sum(DISTINCT t.f)                       sum(DISTINCT float_key(t.f))
//! ```
//!
//! Sorting compares bits, and windows find their partitions and peers by sorting; aggregates know their distinct values by
//! bits. But `-0.0` is `0.0`, and a day is 24 hours. (`=`, `GROUP BY`, `SELECT DISTINCT` and joins compare floats as numbers
//! in DataFusion already; for intervals see [`intervals`](crate::intervals).)

use arrow::datatypes::DataType;
use caudal_functions::exact::{float_key, interval_key};
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{AggregateFunction, Sort, WindowFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};

use crate::expressions::rewrite_node;

pub fn normalize(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Sort(mut sort) => {
            let input = sort.input.schema();
            sort.expr = sort.expr.into_iter().map(|key| sort_key(key, input)).collect();
            Ok(Transformed::yes(LogicalPlan::Sort(sort)))
        }
        LogicalPlan::Window(_) => rewrite_node(node, window_keys),
        LogicalPlan::Aggregate(_) => rewrite_node(node, aggregate_keys),
        other => Ok(Transformed::no(other)),
    })
    .data()
}

fn window_keys(part: Expr, input: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::WindowFunction(window) => {
            let WindowFunction { fun, mut params } = *window;
            let before = params.clone();
            if params.distinct {
                params.args = params.args.into_iter().map(|arg| value_of(arg, input)).collect();
            }
            let keys = params.partition_by.into_iter().map(|key| key_of(key, input));
            params.partition_by = keys.collect();
            let orders = params.order_by.into_iter().map(|key| sort_key(key, input));
            params.order_by = orders.collect();
            let changed = before != params;
            let window = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
            Ok(Transformed::new_transformed(window, changed))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn aggregate_keys(part: Expr, input: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        // What stands WITHIN GROUP sorts by itself, and equal numbers are as good as each other.
        Expr::AggregateFunction(call) if !call.func.supports_within_group_clause() => {
            let AggregateFunction { func, mut params } = call;
            let before = params.clone();
            if params.distinct {
                params.args = params.args.into_iter().map(|arg| value_of(arg, input)).collect();
            }
            let orders = params.order_by.into_iter().map(|key| sort_key(key, input));
            params.order_by = orders.collect();
            let changed = before != params;
            let call = Expr::AggregateFunction(AggregateFunction { func, params });
            Ok(Transformed::new_transformed(call, changed))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Key by which equal values are counted once; of each part, where the value is put together here.
fn value_of(value: Expr, input: &DFSchema) -> Expr {
    match value {
        Expr::ScalarFunction(mut call) if puts_together(call.name()) => {
            call.args = call.args.into_iter().map(|part| value_of(part, input)).collect();
            Expr::ScalarFunction(call)
        }
        other => key_of(other, input),
    }
}

fn puts_together(function: &str) -> bool {
    ["struct", "named_struct", "make_array"].contains(&function)
}

fn sort_key(key: Sort, input: &DFSchema) -> Sort {
    Sort { expr: key_of(key.expr, input), ..key }
}

fn key_of(key: Expr, input: &DFSchema) -> Expr {
    match key.get_type(input) {
        Ok(DataType::Float32 | DataType::Float64) => float_key().call(vec![key]),
        Ok(DataType::Interval(_)) => interval_key().call(vec![key]),
        // What has no type yet is no column.
        _ => key,
    }
}
