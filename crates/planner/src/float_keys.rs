//! Pass: sorting knows that `-0.0` equals `0.0`.
//!
//! ```text
//! Sort: t.f, t.k          ==>     Sort: float_key(t.f), t.k
//! rank() OVER (PARTITION BY t.f)  rank() OVER (PARTITION BY float_key(t.f))
//! ```
//!
//! Sorting compares bits, and windows find their partitions and peers by sorting. `=`, `GROUP BY`, `DISTINCT` and joins compare
//! numbers in DataFusion already.

use arrow::datatypes::DataType;
use caudal_functions::exact::float_key;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
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
        other => Ok(Transformed::no(other)),
    })
    .data()
}

fn window_keys(part: Expr, input: &DFSchema) -> Result<Transformed<Expr>> {
    match part {
        Expr::WindowFunction(window) => {
            let WindowFunction { fun, mut params } = *window;
            let before = (params.partition_by.clone(), params.order_by.clone());
            let keys = params.partition_by.into_iter().map(|key| key_of(key, input));
            params.partition_by = keys.collect();
            let orders = params.order_by.into_iter().map(|key| sort_key(key, input));
            params.order_by = orders.collect();
            let changed = before != (params.partition_by.clone(), params.order_by.clone());
            let window = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
            Ok(Transformed::new_transformed(window, changed))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn sort_key(key: Sort, input: &DFSchema) -> Sort {
    Sort { expr: key_of(key.expr, input), ..key }
}

fn key_of(key: Expr, input: &DFSchema) -> Expr {
    match key.get_type(input) {
        Ok(DataType::Float32 | DataType::Float64) => float_key().call(vec![key]),
        // What has no type yet is no float column.
        _ => key,
    }
}
