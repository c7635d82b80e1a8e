//! Pass: `INTERSECT ALL` and `EXCEPT ALL` count.
//!
//! ```text
//! LeftAnti Join: x = x (NULLs are equal)        LeftAnti Join: x = x, copy = copy (NULLs are equal)
//!   SELECT x FROM t                       ==>     SELECT x, count(*) OVER (PARTITION BY x ROWS ...) AS copy FROM t
//!   SELECT x FROM u                               SELECT x, count(*) OVER (PARTITION BY x ROWS ...) AS copy FROM u
//! ```
//!
//! DataFusion keeps every copy of a row that is on the other side at all. Numbered, the third copy of a row
//! has an equal only if the other side has three. Over distinct rows (`INTERSECT`, `EXCEPT`) there is one copy, and
//! its join is right.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::error::Result;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, WindowFrame, WindowFrameBound,
    WindowFrameUnits, lit,
};
use datafusion::scalar::ScalarValue;

pub fn count(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Join(join) if keeps_copies(&join) => counted(join).map(Transformed::yes),
        other => Ok(Transformed::no(other)),
    })
    .data()
}

/// Only set operations compare so, as long as nothing is optimized.
fn keeps_copies(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && !matches!(join.left.as_ref(), LogicalPlan::Distinct(_))
}

fn counted(join: Join) -> Result<LogicalPlan> {
    let columns = join.left.schema().columns();
    let (left, copy) = numbered(&join.left)?;
    let (right, other_copy) = numbered(&join.right)?;
    let mut on = join.on;
    on.push((copy, other_copy));
    let join = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        join.filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    LogicalPlanBuilder::from(LogicalPlan::Join(join))
        .project(columns.into_iter().map(Expr::Column))?
        .build()
}

/// The rows with the number of each among its copies.
fn numbered(plan: &LogicalPlan) -> Result<(LogicalPlan, Expr)> {
    let columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let counted = Expr::from(WindowFunction::new(count_udaf(), vec![lit(1)]));
    let so_far = WindowFrame::new_bounds(
        WindowFrameUnits::Rows,
        WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
        WindowFrameBound::CurrentRow,
    );
    let number = counted.partition_by(columns).window_frame(so_far).build()?;
    let name = number.schema_name().to_string();
    let plan = LogicalPlanBuilder::from(plan.clone()).window([number])?.build()?;
    Ok((plan, Expr::Column(Column::from_name(name))))
}
