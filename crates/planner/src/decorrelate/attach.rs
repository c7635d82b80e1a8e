//! Where subqueries stand: below the operator that uses them, what they give is joined to its rows, for each row one.
//!
//! | | joined, for each value of the outer columns | stands for it |
//! |---|---|---|
//! | `(subquery)` | its value ([`scalar`](super::scalar)) | the value |
//! | `EXISTS` | how many rows there are | `rows IS NOT NULL` |
//! | `IN`, `ANY`, `ALL` | how many rows and values, the least and greatest; a mark | what [`kinds`](crate::subqueries) says |
//!
//! Of a filter, conditions without subqueries are asked first: of rows that they leave out no subquery is asked. In the condition of an
//! inner join subqueries are asked of the rows that it gives; of an outer join's, a side has to have all that they name.

use std::rc::Rc;
use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, Join, LogicalPlan, Projection, lit};

use super::domain::{Domain, columns};
use super::found::Attach;
use super::outer::{self, Outer};
use super::{Unnester, refuse};
use crate::subqueries::{kinds, subquery_of};

impl Unnester {
    pub fn attached(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        if !self.uses_ours(&node)? {
            return Ok(Transformed::no(node));
        }
        let columns_before = node.schema().columns();
        let node = match node {
            LogicalPlan::Join(join) => self.join(join)?,
            LogicalPlan::Filter(filter) => self.filter(filter)?,
            LogicalPlan::Projection(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Sort(_) => self.over_columns(node)?,
            _ => return refuse("cannot stand there"),
        };
        if node.schema().columns() == columns_before {
            return Ok(Transformed::yes(node));
        }
        let node = Projection::try_new(columns(&columns_before), Arc::new(node))?;
        Ok(Transformed::yes(LogicalPlan::Projection(node)))
    }

    fn uses_ours(&self, node: &LogicalPlan) -> Result<bool> {
        let mut found = false;
        node.apply_expressions(|expression| {
            found |= expression.exists(|part| self.is_ours(node, part))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    }

    fn filter(&mut self, filter: Filter) -> Result<LogicalPlan> {
        let has_subquery = |part: &Expr| part.exists(|part| Ok(subquery_of(part).is_some()));
        let (mut plain, mut others) = (vec![], vec![]);
        for condition in split_conjunction_owned(filter.predicate) {
            let side = if has_subquery(&condition)? { &mut others } else { &mut plain };
            side.push(condition);
        }
        let mut input = filter.input;
        if let Some(plain) = conjunction(plain) {
            input = Arc::new(LogicalPlan::Filter(Filter::try_new(plain, input)?));
        }
        let others = conjunction(others).unwrap_or(lit(true));
        self.over_columns(LogicalPlan::Filter(Filter::try_new(others, input)?))
    }

    /// The operator, its subqueries joined below it.
    fn over_columns(&mut self, node: LogicalPlan) -> Result<LogicalPlan> {
        let mut side = Side::of(node.inputs()[0]);
        let names = NamePreserver::new(&node);
        let mut expressions = vec![];
        for expression in node.expressions() {
            if matches!(expression, Expr::GroupingSet(_)) {
                return refuse("cannot stand in GROUPING SETS, ROLLUP or CUBE");
            }
            let name = names.save(&expression);
            let replaced = self.replaced(expression, &node, &mut [&mut side])?;
            expressions.push(name.restore(replaced));
        }
        node.with_new_exprs(expressions, vec![side.plan])
    }

    fn join(&mut self, mut join: Join) -> Result<LogicalPlan> {
        let node = LogicalPlan::Join(join.clone());
        let Some(filter) = join.filter.take() else { return refuse("cannot stand there") };
        if join.join_type == JoinType::Inner {
            let filter = Filter::try_new(filter, Arc::new(LogicalPlan::Join(join)))?;
            return self.filter(filter);
        }
        let (mut left, mut right) = (Side::of(&join.left), Side::of(&join.right));
        let filter = self.replaced(filter, &node, &mut [&mut left, &mut right])?;
        join.filter = Some(filter);
        let inputs = vec![left.plan, right.plan];
        let expressions = LogicalPlan::Join(join.clone()).expressions();
        LogicalPlan::Join(join).with_new_exprs(expressions, inputs)
    }

    fn replaced(
        &mut self,
        expression: Expr,
        node: &LogicalPlan,
        sides: &mut [&mut Side],
    ) -> Result<Expr> {
        expression
            .transform_up(|part| {
                let Some(subquery) = subquery_of(&part) else { return Ok(Transformed::no(part)) };
                let named = outer::of(&subquery.subquery)?;
                if named.is_empty() {
                    return Ok(Transformed::no(part));
                }
                if let Some(compared) = kinds::compared(&part) {
                    return self.replaced(compared, node, sides).map(Transformed::yes);
                }
                if !self.is_ours(node, &part)? {
                    return Ok(Transformed::no(part));
                }
                let side = side_of(&part, &named, sides)?;
                let known = side.known.iter().find(|(known, _)| *known == part);
                if let Some((_, by)) = known {
                    return Ok(Transformed::yes(by.clone()));
                }
                let by =
                    Attach { unnester: &mut *self, side: &mut *side }.replacement(part.clone())?;
                side.known.push((part, by.clone()));
                Ok(Transformed::yes(by))
            })
            .data()
    }
}

/// An input of an operator, to which subqueries are joined.
pub struct Side {
    /// The rows that subqueries are asked of.
    pub rows: LogicalPlan,
    /// The same with what was found.
    pub plan: LogicalPlan,
    /// The expressions that have been replaced, so that equal ones are joined once.
    known: Vec<(Expr, Expr)>,
    /// The distinct values that there are already: subqueries that name the same columns share them.
    pub domains: Vec<Rc<Domain>>,
}

impl Side {
    fn of(rows: &LogicalPlan) -> Self {
        Self { rows: rows.clone(), plan: rows.clone(), known: vec![], domains: vec![] }
    }
}

/// The side that has all that a subquery names, and what it is compared with.
fn side_of<'a>(part: &Expr, named: &[Outer], sides: &'a mut [&mut Side]) -> Result<&'a mut Side> {
    let compared = part.column_refs();
    for side in sides {
        let columns = named.iter().map(|outer| &outer.column).chain(compared.iter().copied());
        if columns.into_iter().all(|column| side.plan.schema().has_column(column)) {
            return Ok(side);
        }
    }
    refuse("names both sides of an outer join, in its condition")
}
