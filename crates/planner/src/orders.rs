//! Pass: nobody claims an order that rows do not have.
//!
//! ```text
//! max(v) OVER (...)          ==>     max(v) OVER (...), as one that says nothing of its order
//!
//! Projection: v < rn         ==>     Projection: as_is(v < rn)
//! Sort: a > 1 AND b < 3      ==>     Sort: as_is(a > 1 AND b < 3)
//! ```
//!
//! DataFusion leaves out sorts, and streams groups, where rows come in order already. It is wrong about two things: the results of
//! aggregates over windows (`caudal_functions::exact::windowed`), and truth values made of several columns that are in
//! order, whose NULLs may be at either end. So it does not get to know of either.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::DataType;
use caudal_functions::exact::{as_is, windowed};
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, WindowFunctionDefinition};

use crate::expressions::{rewrite_node, rewrite_roots};

pub fn disclaim(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let node = match &node {
            LogicalPlan::Projection(_) | LogicalPlan::Sort(_) | LogicalPlan::Aggregate(_) => {
                rewrite_roots(node, |root, schema| Ok(opaque(root, schema)))?
            }
            _ => Transformed::no(node),
        };
        node.transform_data(|node| match node {
            LogicalPlan::Window(_) => rewrite_node(node, window),
            other => Ok(Transformed::no(other)),
        })
    })
    .data()
}

fn window(part: Expr, input: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(window) = part else { return Ok(Transformed::no(part)) };
    let WindowFunction { fun, mut params } = *window;
    let fun = match fun {
        WindowFunctionDefinition::AggregateUDF(function) => {
            WindowFunctionDefinition::AggregateUDF(Arc::new(windowed(function.as_ref())))
        }
        other => other,
    };
    let key = |key: Expr| opaque(key, input).data;
    params.partition_by = params.partition_by.into_iter().map(key).collect();
    let sort = |sort: Sort| Sort { expr: key(sort.expr), ..sort };
    params.order_by = params.order_by.into_iter().map(sort).collect();
    Ok(Transformed::yes(Expr::WindowFunction(Box::new(WindowFunction { fun, params }))))
}

/// A truth value of several columns, so that nobody looks into it.
fn opaque(value: Expr, input: &DFSchema) -> Transformed<Expr> {
    match value {
        Expr::Alias(mut alias) => {
            let made = opaque(*alias.expr, input);
            alias.expr = Box::new(made.data);
            Transformed::new_transformed(Expr::Alias(alias), made.transformed)
        }
        value if is_truth_of_several(&value, input) => Transformed::yes(as_is().call(vec![value])),
        other => Transformed::no(other),
    }
}

fn is_truth_of_several(value: &Expr, input: &DFSchema) -> bool {
    let columns: HashSet<_> = value.column_refs();
    matches!(value, Expr::BinaryExpr(_) | Expr::Not(_) | Expr::Between(_))
        && columns.len() > 1
        && value.get_type(input).is_ok_and(|kind| kind == DataType::Boolean)
}
