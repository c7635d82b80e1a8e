//! Pass: a subquery that does not depend on the row it is used in is joined once.
//!
//! ```text
//! Projection: 100 * sum(v) / (<subquery>)        Projection: 100 * sum(v) / __subquery_1.value
//!   Aggregate: sum(v)                      ==>     CrossJoin:
//!     TableScan: t                                   SubqueryAlias: __subquery_1
//!                                                      Aggregate: only_row(...) AS value
//!                                                    Aggregate: sum(v)
//!                                                      TableScan: t
//! ```
//!
//! DataFusion does this for filters and projections only, and there forgets that `IN` is NULL where neither
//! yes nor no can be said. Here it is done wherever an expression stands, below the operator that uses it:
//! what is joined is one row ([`one_row`]), so that no operator sees more or fewer rows for it. In the
//! condition of a join it is joined to the left side: a condition is asked of pairs only, so even an outer
//! join may have one more column there.
//!
//! What each kind of subquery is, over those one-row tables: [`kinds`].
//!
//! Subqueries that do depend on the row are answered by [`decorrelate`](crate::decorrelate), or left to DataFusion, where it is right
//! ([`correlated`]); what they give for no rows at all has to be kept for it ([`empty`]).

mod correlated;
mod empty;
pub(crate) mod kinds;
pub(crate) mod one_row;

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{
    BinaryExpr, Expr, Join, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, binary_expr,
};

use self::kinds::Joins;

pub use correlated::{check, is_lateral_left_to_datafusion, is_left_to_datafusion, of_outer_row};

/// Joins every subquery that is independent of its row.
pub fn join(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut count = 0;
    plan.transform_up_with_subqueries(|node| {
        if !uses_subqueries(&node)? {
            return Ok(Transformed::no(node));
        }
        let mut joiner = Joiner { count: &mut count, joined: vec![], known: vec![] };
        joiner.node(node).map(Transformed::yes)
    })
    .data()
    .and_then(empty::keep)
}

fn uses_subqueries(node: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expression| {
        found |= expression.exists(|part| Ok(subquery_of(part).is_some()))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

pub(crate) fn subquery_of(expression: &Expr) -> Option<&Subquery> {
    match expression {
        Expr::ScalarSubquery(subquery)
        | Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// Tables that have to be joined below one operator.
struct Joiner<'a> {
    /// Number of tables joined in the whole query: their names are numbered.
    count: &'a mut usize,
    joined: Vec<Joined>,
    /// The expressions that have been replaced, so that equal ones are joined once.
    known: Vec<(Expr, Expr)>,
}

enum Joined {
    /// A table of one row.
    OneRow(LogicalPlan),
    /// A table that rows may be in: they are marked.
    Marked { table: LogicalPlan, value: Expr },
}

impl Joiner<'_> {
    /// The operator, with columns in place of subqueries.
    fn node(&mut self, node: LogicalPlan) -> Result<LogicalPlan> {
        if let LogicalPlan::Join(join) = node {
            return self.join(join);
        }
        let takes = matches!(
            node,
            LogicalPlan::Projection(_)
                | LogicalPlan::Filter(_)
                | LogicalPlan::Aggregate(_)
                | LogicalPlan::Window(_)
                | LogicalPlan::Sort(_)
        );
        if !takes {
            return Ok(node);
        }
        let schema = Arc::clone(node.schema());
        let keeps_names = matches!(
            node,
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Window(_)
        );
        let is_filter = matches!(node, LogicalPlan::Filter(_));
        let below = Arc::clone(node.inputs()[0].schema());
        let mut expressions = vec![];
        for expression in node.expressions() {
            let name = expression.schema_name().to_string();
            let replaced = match is_filter {
                true => self.truth(expression, true, &below)?,
                false => self.replace(expression, None)?,
            };
            expressions.push(match replaced.transformed && keeps_names {
                true => replaced.data.unalias().alias(name),
                false => replaced.data,
            });
        }
        let joined = std::mem::take(&mut self.joined);
        let input = attach(node.inputs()[0].clone(), joined)?;
        let node = node.with_new_exprs(expressions, vec![input])?;
        with_columns(node, schema.columns())
    }

    fn join(&mut self, join: Join) -> Result<LogicalPlan> {
        let columns = join.schema.columns();
        let Some(filter) = join.filter.clone() else { return Ok(LogicalPlan::Join(join)) };
        let filter = self.replace(filter, None)?.data;
        if self.joined.is_empty() {
            return Ok(LogicalPlan::Join(Join { filter: Some(filter), ..join }));
        }
        // What marks the right side's rows is joined there.
        let all = std::mem::take(&mut self.joined);
        let (right, left): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|joined| joined.marks(join.right.schema()));
        let left = attach(join.left.as_ref().clone(), left)?;
        let right = attach(join.right.as_ref().clone(), right)?;
        let join = Join::try_new(
            Arc::new(left),
            Arc::new(right),
            join.on,
            Some(filter),
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?;
        with_columns(LogicalPlan::Join(join), columns)
    }

    /// `filtered`: the columns that a filter sees. Only there can DataFusion join a subquery that depends on
    /// the row, other than a scalar one.
    fn replace(
        &mut self,
        expression: Expr,
        filtered: Option<&DFSchema>,
    ) -> Result<Transformed<Expr>> {
        expression.transform_up(|part| {
            let Some(subquery) = subquery_of(&part) else { return Ok(Transformed::no(part)) };
            if let Some(compared) = kinds::compared(&part) {
                return self.replace(compared, filtered).map(|by| Transformed::yes(by.data));
            }
            if !independent(subquery) {
                return correlated::replacement(part, filtered);
            }
            if let Some((_, by)) = self.known.iter().find(|(known, _)| *known == part) {
                return Ok(Transformed::yes(by.clone()));
            }
            let by = kinds::replacement(part.clone(), self)?;
            self.known.push((part, by.clone()));
            Ok(Transformed::yes(by))
        })
    }

    fn next(&mut self) -> String {
        *self.count += 1;
        format!("__subquery_{}", self.count)
    }

    /// A condition of which only one thing is asked: whether it is true. There a plain `IN` need not tell
    /// false from NULL. `top`: at the top of a filter, where DataFusion makes a semi or an anti join of it.
    fn truth(&mut self, condition: Expr, top: bool, input: &DFSchema) -> Result<Transformed<Expr>> {
        match condition {
            Expr::BinaryExpr(BinaryExpr {
                left,
                op: op @ (Operator::And | Operator::Or),
                right,
            }) => {
                let top = top && op == Operator::And;
                let left = self.truth(*left, top, input)?;
                let right = self.truth(*right, top, input)?;
                let changed = left.transformed || right.transformed;
                let both = binary_expr(left.data, op, right.data);
                Ok(Transformed::new_transformed(both, changed))
            }
            Expr::Not(inner) if matches!(*inner, Expr::InSubquery(_)) => {
                let Expr::InSubquery(inner) = *inner else { unreachable!("it has just been seen") };
                let negated = !inner.negated;
                self.truth(Expr::InSubquery(InSubquery { negated, ..inner }), top, input)
            }
            Expr::InSubquery(part) if !one_row::is_one(&part.subquery.subquery) => {
                self.truth_of_in(part, top, input)
            }
            other => self.replace(other, Some(input)),
        }
    }

    fn truth_of_in(
        &mut self,
        part: InSubquery,
        top: bool,
        input: &DFSchema,
    ) -> Result<Transformed<Expr>> {
        let InSubquery { expr, subquery, negated } = part;
        let value = self.replace(*expr, Some(input))?.data;
        let by = match (independent(&subquery), negated) {
            (true, false) if top && value.any_column_refs() => {
                Expr::InSubquery(InSubquery::new(Box::new(value), subquery, negated))
            }
            (true, _) => kinds::truth_of_in(value, &subquery.subquery, negated, self)?,
            (false, true) => correlated::not_in(value, &subquery, input)?,
            (false, false) => correlated::is_in(value, &subquery, input)?,
        };
        Ok(Transformed::yes(by))
    }
}

impl Joins for Joiner<'_> {
    fn one_row(&mut self, row: LogicalPlan) -> Result<String> {
        let alias = self.next();
        let row = LogicalPlanBuilder::from(row).alias(alias.as_str())?.build()?;
        self.joined.push(Joined::OneRow(row));
        Ok(alias)
    }

    fn mark(&mut self, value: Expr, table: &LogicalPlan) -> Result<Expr> {
        let alias = self.next();
        let table = LogicalPlanBuilder::from(table.clone()).alias(alias.as_str())?.build()?;
        self.joined.push(Joined::Marked { table, value });
        Ok(Expr::Column(Column::new(Some(alias), "mark")))
    }
}

impl Joined {
    /// Whether it marks rows with these columns.
    fn marks(&self, rows: &DFSchema) -> bool {
        match self {
            Joined::OneRow(_) => false,
            Joined::Marked { value, .. } => {
                value.column_refs().into_iter().all(|column| rows.has_column(column))
            }
        }
    }
}

fn attach(mut input: LogicalPlan, all: Vec<Joined>) -> Result<LogicalPlan> {
    for joined in all {
        input = match joined {
            // The one row first: the side that is collected, and sent to wherever the other is.
            Joined::OneRow(row) => LogicalPlanBuilder::from(row).cross_join(input)?.build()?,
            Joined::Marked { table, value } => {
                let column = Expr::Column(Column::from(table.schema().qualified_field(0)));
                let equal = binary_expr(value, Operator::Eq, column);
                LogicalPlanBuilder::from(input)
                    .join_on(table, JoinType::LeftMark, [equal])?
                    .build()?
            }
        };
    }
    Ok(input)
}

fn independent(subquery: &Subquery) -> bool {
    subquery.outer_ref_columns.is_empty()
}

/// The operator with these columns only.
fn with_columns(node: LogicalPlan, columns: Vec<Column>) -> Result<LogicalPlan> {
    if node.schema().columns() == columns {
        return Ok(node);
    }
    LogicalPlanBuilder::from(node).project(columns.into_iter().map(Expr::Column))?.build()
}
