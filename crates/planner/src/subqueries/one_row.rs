//! Subqueries as tables of exactly one row.

use caudal_functions::exact;
use datafusion::common::Column;
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Operator, binary_expr, lit, when,
};

use crate::only_row;

/// Whether it is sure to give one row: an aggregate over all its rows.
pub fn is_one(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_one(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_one(&alias.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

/// `value`: the only value of a scalar subquery, NULL if it has none; its query fails if it has more.
pub fn value(plan: &LogicalPlan) -> Result<LogicalPlan> {
    let column = first(plan);
    let plan = LogicalPlanBuilder::from(plan.clone());
    match is_one(plan.plan()) {
        true => plan.project([column.alias("value")])?.build(),
        false => {
            plan.aggregate(Vec::<Expr>::new(), [only_row::call(column).alias("value")])?.build()
        }
    }
}

/// `found`: whether there is a row.
pub fn found(plan: &LogicalPlan) -> Result<LogicalPlan> {
    let rows = LogicalPlanBuilder::from(plan.clone()).limit(0, Some(1))?;
    let rows = rows.aggregate(Vec::<Expr>::new(), [count(lit(1)).alias("rows")])?;
    rows.project([Expr::Column(Column::from_name("rows")).gt(lit(0)).alias("found")])?.build()
}

/// Facts that are asked of a set, besides the numbers of its `rows`, and of its `values` that are not NULL.
pub enum Summary {
    Rows,
    /// The `least` and the `greatest`.
    Extremes,
    /// Number of values that a constant `equals`.
    Equals(Expr),
}

pub fn summary(plan: &LogicalPlan, asked: Summary) -> Result<LogicalPlan> {
    let column = first(plan);
    let mut aggregates = vec![count(lit(1)).alias("rows"), count(column.clone()).alias("values")];
    match asked {
        Summary::Rows => {}
        Summary::Extremes => {
            aggregates.push(exact::min().call(vec![column.clone()]).alias("least"));
            aggregates.push(exact::max().call(vec![column]).alias("greatest"));
        }
        Summary::Equals(value) => {
            let equal = when(binary_expr(column, Operator::Eq, value), lit(1)).end()?;
            aggregates.push(count(equal).alias("equals"));
        }
    }
    LogicalPlanBuilder::from(plan.clone()).aggregate(Vec::<Expr>::new(), aggregates)?.build()
}

pub fn first(plan: &LogicalPlan) -> Expr {
    Expr::Column(Column::from(plan.schema().qualified_field(0)))
}
