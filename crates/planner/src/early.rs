//! Pass: stages that may say part of their answer before they are complete.
//!
//! ```text
//! HashJoinExec: Inner                                   once the games are complete, a game is
//!   from stage s0 [app_id, name]                   ==>  answered when its count crosses the line;
//!   FilterExec: count(*) > 5000, projection=[app_id]    the rest when s1 is complete
//!     AggregateExec: mode=FinalPartitioned
//!       from stage s1
//! ```
//!
//! **A row said early is a row of the final answer, with its final values**, because:
//!
//! 1. the stage reads the growing input at one place of its plan, and every other input is complete; so nothing
//!    that its plan reads can change any more but the growing input *G*, of which more comes and none goes;
//! 2. above *G* stands a final aggregate, which has one row for each group, and above that a condition that can
//!    only become true as *G* grows: a count or a maximum above a constant, a minimum below one, alone or together
//!    with conditions on the group's keys. So the groups that pass form a set that only grows;
//! 3. of these groups only the keys pass on, and keys do not change. (Floats are no such keys, nor fit for a minimum
//!    or a maximum here: -0.0 is the same group as 0.0, and which of them it shows, like what a NaN does to a
//!    maximum, depends on what came first.)
//! 4. what is between there and the client gives more rows for more rows, and never takes one back: projections,
//!    filters, inner and semi joins, without any LIMIT, and without ORDER BY.
//!
//! So whatever the plan gives on a part of *G* it gives on all of *G*, as often or more often: what has been said is
//! a part of the answer, and the difference is what is left to say.

use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::DataType;
use caudal_core::{QueryId, StageId};
use datafusion::common::JoinType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::cut::Cutter;
use crate::leaf::{Leaf, LeafExec};
use crate::region::Region;
use crate::stage::{Output, leaves};

/// Early answers of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Early {
    /// The input that need not be complete: the partial aggregates.
    pub growing: StageId,
}

/// Whether a query with this plan would answer while its tables still arrive.
pub fn answers_while_tables_arrive(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut cutter = Cutter::default();
    let query = QueryId(0);
    let Ok(root) = cutter.add(query, Arc::clone(plan)) else { return false };
    let early = find(&cutter.stages[root.index()].plan, &Output::Result(query));
    early.is_some_and(|early| cutter.stages[early.growing.index()].region == Region::Tables)
}

pub fn find(plan: &Arc<dyn ExecutionPlan>, output: &Output) -> Option<Early> {
    let Output::Result(_) = output else { return None };
    let growing = growing_input(plan)?;
    // Another place that reads it would see it unfinished, too: a count that still grows, say.
    let readers = leaves(plan).into_iter().filter(|leaf| *leaf == Leaf::Stage(growing)).count();
    (readers == 1).then_some(Early { growing })
}

fn growing_input(plan: &Arc<dyn ExecutionPlan>) -> Option<StageId> {
    // A LIMIT may have become part of any operator.
    if plan.fetch().is_some() {
        return None;
    }
    let node = plan.as_ref() as &dyn Any;
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        return having(filter).or_else(|| growing_input(filter.input()));
    }
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        return having_below_projection(projection).or_else(|| growing_input(projection.input()));
    }
    let join = node.downcast_ref::<HashJoinExec>()?;
    if !matches!(join.join_type(), JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi) {
        return None;
    }
    let (left, right) = (growing_input(join.left()), growing_input(join.right()));
    // With both sides growing, neither is ever "complete" for the other.
    if left.is_some() && right.is_some() { None } else { left.or(right) }
}

/// `FilterExec(count > n, projection = keys)` over a final aggregate.
fn having(filter: &FilterExec) -> Option<StageId> {
    let kept: Vec<usize> = filter.projection().as_ref()?.to_vec();
    growing_having(filter, kept)
}

/// `ProjectionExec(keys)` over such a filter without a projection of its own.
fn having_below_projection(projection: &ProjectionExec) -> Option<StageId> {
    let filter = (projection.input().as_ref() as &dyn Any).downcast_ref::<FilterExec>()?;
    if filter.projection().is_some() || filter.fetch().is_some() {
        return None;
    }
    let used: HashSet<usize> =
        projection.expr().iter().flat_map(|column| columns_of(&column.expr)).collect();
    growing_having(filter, used.into_iter().collect())
}

/// The input of the aggregate below, if the filter can only become true and only keys pass it.
fn growing_having(filter: &FilterExec, kept: Vec<usize>) -> Option<StageId> {
    let aggregate = (filter.input().as_ref() as &dyn Any).downcast_ref::<AggregateExec>()?;
    let is_final =
        matches!(aggregate.mode(), AggregateMode::Final | AggregateMode::FinalPartitioned);
    if !is_final || aggregate.limit_options().is_some() {
        return None;
    }
    let keys = aggregate.group_expr().expr().len();
    let types = aggregate.schema();
    let keys_stay = (0..keys).all(|key| has_one_form(types.field(key).data_type()));
    let only_keys_pass = keys > 0 && keys_stay && kept.iter().all(|column| *column < keys);
    let monotone = split_conjunction(filter.predicate()).into_iter().all(|condition| {
        is_on_keys(condition, keys) || only_becomes_true(condition, aggregate, keys)
    });
    match LeafExec::of(aggregate.input())? {
        Leaf::Stage(stage) if only_keys_pass && monotone => Some(*stage),
        _ => None,
    }
}

fn is_on_keys(condition: &Arc<dyn PhysicalExpr>, keys: usize) -> bool {
    columns_of(condition).into_iter().all(|column| column < keys)
}

/// `aggregate > constant` or the like, in the direction in which the aggregate moves.
fn only_becomes_true(
    condition: &Arc<dyn PhysicalExpr>,
    aggregate: &AggregateExec,
    keys: usize,
) -> bool {
    let Some(comparison) = (condition.as_ref() as &dyn Any).downcast_ref::<BinaryExpr>() else {
        return false;
    };
    let (column, operator) =
        match (value_column(comparison.left()), value_column(comparison.right())) {
            (Some(column), None) if is_constant(comparison.right()) => (column, *comparison.op()),
            (None, Some(column)) if is_constant(comparison.left()) => {
                match comparison.op().swap() {
                    Some(operator) => (column, operator),
                    None => return false,
                }
            }
            _ => return false,
        };
    let Some(value) = column.checked_sub(keys).and_then(|at| aggregate.aggr_expr().get(at)) else {
        return false;
    };
    let is_ordered = has_one_form(value.field().data_type());
    match value.fun().name() {
        "count" => matches!(operator, Operator::Gt | Operator::GtEq),
        "max" => is_ordered && matches!(operator, Operator::Gt | Operator::GtEq),
        "min" => is_ordered && matches!(operator, Operator::Lt | Operator::LtEq),
        _ => false,
    }
}

/// Whether equal values of the type are the same to the last bit, and any two of them are in order.
fn has_one_form(data_type: &DataType) -> bool {
    data_type.is_integer()
        || data_type.is_decimal()
        || data_type.is_string()
        || data_type.is_binary()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Date32
                | DataType::Date64
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Timestamp(_, _)
        )
}

fn value_column(expression: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    (expression.as_ref() as &dyn Any).downcast_ref::<Column>().map(Column::index)
}

fn is_constant(expression: &Arc<dyn PhysicalExpr>) -> bool {
    (expression.as_ref() as &dyn Any).is::<Literal>()
}

fn columns_of(expression: &Arc<dyn PhysicalExpr>) -> Vec<usize> {
    let mut columns = vec![];
    expression
        .apply(|node| {
            columns.extend(value_column(node));
            Ok(TreeNodeRecursion::Continue)
        })
        .expect("the walk's closure never fails");
    columns
}
