//! Subqueries that depend on the row they are used in.
//!
//! DataFusion joins them, by pulling the conditions that name the outer row out of the subquery. That is right
//! only where nothing on the way up sees the rows before the condition: what is on the way is checked
//! here, and all else refused.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema, JoinType};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::{split_binary, split_conjunction};
use datafusion::logical_expr::{
    BinaryExpr, Expr, FetchType, LogicalPlan, LogicalPlanBuilder, Operator, SkipType, Subquery,
    binary_expr, lit, not, or, when,
};
use datafusion::scalar::ScalarValue;

use super::one_row::{first, is_one};
use super::subquery_of;

/// `value IN (subquery)` where true, false and NULL have to be told apart, in a filter; anything else as
/// it is.
pub fn replacement(part: Expr, filtered: Option<&DFSchema>) -> Result<Transformed<Expr>> {
    match (part, filtered) {
        (Expr::InSubquery(InSubquery { expr, subquery, negated }), Some(input)) => {
            let value = of_outer_row(*expr, input)?;
            let column = first(&subquery.subquery);
            let found =
                exists(&subquery, binary_expr(value.clone(), Operator::Eq, column.clone()))?;
            let unknown = exists(&subquery, or(value.is_null(), column.is_null()))?;
            let is_in = when(found, lit(true))
                .when(unknown, lit(ScalarValue::Boolean(None)))
                .otherwise(lit(false))?;
            Ok(Transformed::yes(if negated { not(is_in) } else { is_in }))
        }
        (part, _) => Ok(Transformed::no(part)),
    }
}

/// `value NOT IN (subquery)` where it is only asked whether that is true: no row is equal, or might be.
pub fn not_in(value: Expr, subquery: &Subquery, input: &DFSchema) -> Result<Expr> {
    let value = of_outer_row(value, input)?;
    let column = first(&subquery.subquery);
    let equal = binary_expr(value.clone(), Operator::Eq, column.clone());
    exists(subquery, or(equal, or(value.is_null(), column.is_null()))).map(not)
}

/// `value IN (subquery)`, likewise: some row is equal.
pub fn is_in(value: Expr, subquery: &Subquery, input: &DFSchema) -> Result<Expr> {
    let value = of_outer_row(value, input)?;
    exists(subquery, binary_expr(value, Operator::Eq, first(&subquery.subquery)))
}

fn exists(subquery: &Subquery, condition: Expr) -> Result<Expr> {
    let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone());
    let plan = plan.filter(condition)?.build()?;
    let outer_ref_columns = plan.all_out_ref_exprs();
    let subquery =
        Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: subquery.spans.clone() };
    Ok(Expr::Exists(Exists { subquery, negated: false }))
}

/// An expression over the outer row, as it is written inside of the subquery.
pub fn of_outer_row(value: Expr, input: &DFSchema) -> Result<Expr> {
    value
        .transform_up(|part| match part {
            Expr::Column(column) => {
                let field = Arc::clone(input.field_from_column(&column)?);
                Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
            }
            other => Ok(Transformed::no(other)),
        })
        .data()
}

/// Mistake in the first correlated subquery that cannot be answered.
pub fn check(plan: &LogicalPlan) -> Option<String> {
    let mut wrong = None;
    let walked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Some(subquery) = subquery_of(part)
                    && !subquery.outer_ref_columns.is_empty()
                    && wrong.is_none()
                {
                    wrong = unanswerable(node, part, subquery);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        if let LogicalPlan::Join(join) = node
            && let Some(lateral) = lateral(&join.right)
            && wrong.is_none()
        {
            wrong = on_the_way(lateral, Used::Lateral).map(str::to_string);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    debug_assert!(walked.is_ok(), "the walk's closures never fail");
    wrong.map(|what| format!("a subquery that depends on the row around it {what}"))
}

/// Whether DataFusion joins a subquery rightly, and all that are inside of it.
pub fn is_left_to_datafusion(node: &LogicalPlan, part: &Expr, subquery: &Subquery) -> bool {
    let is_compared = matches!(part, Expr::InSubquery(_) | Expr::SetComparison(_));
    unanswerable(node, part, subquery).is_none()
        && check(&subquery.subquery).is_none()
        // A comparison with what is grouped would be a condition on the groups.
        && !(is_compared && sees_all_rows(&subquery.subquery))
}

/// The same for what is right of LATERAL.
pub fn is_lateral_left_to_datafusion(right: &LogicalPlan) -> bool {
    lateral(right)
        .is_some_and(|plan| on_the_way(plan, Used::Lateral).is_none() && check(plan).is_none())
}

/// Plan to the right of LATERAL.
fn lateral(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    match plan {
        LogicalPlan::Subquery(subquery) => Some(&subquery.subquery),
        LogicalPlan::SubqueryAlias(alias) => lateral(&alias.input),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Used {
    Scalar,
    Exists,
    In,
    Lateral,
}

fn unanswerable(node: &LogicalPlan, part: &Expr, subquery: &Subquery) -> Option<String> {
    let used = match part {
        Expr::ScalarSubquery(_) => Used::Scalar,
        Expr::Exists(_) => Used::Exists,
        _ => Used::In,
    };
    let stands = match node {
        LogicalPlan::Filter(_) => true,
        LogicalPlan::Projection(_) => used == Used::Scalar,
        _ => false,
    };
    if !stands {
        return Some("can stand in WHERE, and if it is one value in the SELECT list".into());
    }
    if reaches_further(node, &subquery.subquery) {
        return Some("can depend on the query around it, not on one further out".into());
    }
    if used == Used::Scalar && !aggregates(&subquery.subquery) {
        return Some("has to be an aggregate: it might give more than one row".into());
    }
    on_the_way(&subquery.subquery, used).map(str::to_string)
}

/// Whether a subquery names columns that the operator it is used in does not have.
fn reaches_further(node: &LogicalPlan, subquery: &LogicalPlan) -> bool {
    let known =
        |column: &Column| node.inputs().iter().any(|input| input.schema().has_column(column));
    subquery.all_out_ref_exprs().iter().any(|part| match part {
        Expr::OuterReferenceColumn(_, column) => !known(column),
        _ => false,
    })
}

/// Whether it gives one row by aggregating.
fn aggregates(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => aggregates(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => aggregates(&alias.input),
        LogicalPlan::Filter(filter) => aggregates(&filter.input),
        LogicalPlan::Aggregate(_) => true,
        _ => false,
    }
}

/// Whether all that is asked of the outer row below is that a column is equal to something: only then can the rows be
/// aggregated for all outer rows at once.
fn compares_equal(plan: &LogicalPlan) -> bool {
    let mut all = true;
    let walked = plan.apply(|node| {
        if let LogicalPlan::Filter(filter) = node {
            all &= outer_conditions(&filter.predicate).into_iter().all(is_equality);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    all && walked.is_ok()
}

fn outer_conditions(condition: &Expr) -> Vec<&Expr> {
    let conditions = split_conjunction(condition).into_iter();
    conditions.filter(|condition| condition.contains_outer()).collect()
}

fn is_equality(condition: &Expr) -> bool {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            let sides = (left.as_ref(), right.as_ref());
            match sides {
                (Expr::Column(_), outer) | (outer, Expr::Column(_)) => !outer.any_column_refs(),
                _ => false,
            }
        }
        // What all alternatives ask for is asked for (DataFusion takes it out of them).
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => {
            let alternatives = split_binary(condition, Operator::Or).into_iter();
            let mut asked = alternatives.map(outer_conditions);
            let first = asked.next().unwrap_or_default();
            !first.is_empty()
                && first.iter().all(|condition| is_equality(condition))
                && asked.all(|asked| asked == first)
        }
        _ => false,
    }
}

/// Reason why a condition cannot be pulled out from below.
fn on_the_way(plan: &LogicalPlan, used: Used) -> Option<&'static str> {
    if !depends(plan) {
        return None;
    }
    let computes = matches!(plan, LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_));
    if computes && plan.contains_outer_reference() {
        return Some("can name that row in its WHERE alone");
    }
    match plan {
        LogicalPlan::Filter(filter) => {
            let over_groups =
                |node: &LogicalPlan| Ok(matches!(node, LogicalPlan::Aggregate(_)) && depends(node));
            if filter.input.exists(over_groups).unwrap_or(true) {
                return Some("cannot have HAVING, nor be compared with what is grouped");
            }
            on_the_way(&filter.input, used)
        }
        LogicalPlan::Projection(projection) => on_the_way(&projection.input, used),
        LogicalPlan::SubqueryAlias(alias) if is_one(&alias.input) => {
            Some("cannot be inside of another one, if it is an aggregate over all rows")
        }
        LogicalPlan::SubqueryAlias(alias) => on_the_way(&alias.input, used),
        LogicalPlan::Distinct(distinct) => on_the_way(distinct.input(), used),
        LogicalPlan::Aggregate(aggregate) => {
            if aggregate.group_expr.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
                return Some("cannot have GROUPING SETS, ROLLUP or CUBE");
            }
            if is_one(plan) && matches!(used, Used::Exists | Used::In) {
                return Some("cannot be an aggregate inside of EXISTS or IN");
            }
            if sees_all_rows(&aggregate.input) {
                return Some("can have one aggregate, not one over another, nor over DISTINCT");
            }
            if !compares_equal(&aggregate.input) {
                return Some(
                    "can have an aggregate if it depends on the row by `column = ...` alone",
                );
            }
            on_the_way(&aggregate.input, used)
        }
        LogicalPlan::Join(join)
            if join.join_type != JoinType::Inner
                && join.filter.as_ref().is_some_and(|filter| filter.contains_outer()) =>
        {
            Some("cannot be in the condition of an outer join")
        }
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::Inner => {
                on_the_way(&join.left, used).or_else(|| on_the_way(&join.right, used))
            }
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti if !depends(&join.right) => {
                on_the_way(&join.left, used)
            }
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti if !depends(&join.left) => {
                on_the_way(&join.right, used)
            }
            _ => Some("cannot be on the optional side of an outer join"),
        },
        LogicalPlan::Limit(limit) => {
            let skips = !matches!(limit.get_skip_type(), Ok(SkipType::Literal(0)));
            let takes = matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(1..) | None)));
            match used {
                Used::Exists if !skips && takes => on_the_way(&limit.input, used),
                _ => Some("cannot have LIMIT or OFFSET"),
            }
        }
        LogicalPlan::Window(_) => Some("cannot have a window function"),
        LogicalPlan::Sort(_) => Some("cannot have ORDER BY"),
        LogicalPlan::Union(_) => Some("cannot be a UNION"),
        LogicalPlan::Subquery(inner) => on_the_way(&inner.subquery, used),
        _ => Some("is too complicated"),
    }
}

fn depends(plan: &LogicalPlan) -> bool {
    !plan.all_out_ref_exprs().is_empty()
}

/// Whether something below sees all rows, also those that the outer row does not ask for.
fn sees_all_rows(plan: &LogicalPlan) -> bool {
    let sees_all = |node: &LogicalPlan| {
        let is_one = matches!(node, LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_));
        Ok(is_one && depends(node))
    };
    plan.exists(sees_all).unwrap_or(true)
}
