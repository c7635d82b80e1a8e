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

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType};
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Operator, Projection,
    SubqueryAlias, binary_expr, lit,
};

use super::domain::{Domain, columns, join_by};
use super::outer::{self, Outer};
use super::push::{Push, Pushed};
use super::{Unnester, refuse};
use crate::subqueries::kinds::{self, Joins};
use crate::subqueries::one_row::first;
use crate::subqueries::subquery_of;

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
struct Side {
    /// The rows that subqueries are asked of.
    rows: LogicalPlan,
    /// The same with what was found.
    plan: LogicalPlan,
    /// The expressions that have been replaced, so that equal ones are joined once.
    known: Vec<(Expr, Expr)>,
}

impl Side {
    fn of(rows: &LogicalPlan) -> Self {
        Self { rows: rows.clone(), plan: rows.clone(), known: vec![] }
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

pub struct Attach<'a> {
    unnester: &'a mut Unnester,
    side: &'a mut Side,
}

impl Attach<'_> {
    fn replacement(&mut self, part: Expr) -> Result<Expr> {
        match part {
            Expr::ScalarSubquery(subquery) => self.value(&subquery.subquery),
            Expr::Exists(exists) => {
                let rows = count(lit(1)).alias("rows");
                let table = self.aggregated(&exists.subquery.subquery, vec![rows])?;
                let rows = column(&table, "rows");
                Ok(if exists.negated { rows.is_null() } else { rows.is_not_null() })
            }
            other => kinds::replacement(other, self),
        }
    }

    /// Joins aggregates over a plan: NULLs where there is nothing to aggregate. Its name.
    pub fn aggregated(&mut self, plan: &LogicalPlan, facts: Vec<Expr>) -> Result<String> {
        let aggregate = Aggregate::try_new(Arc::new(plan.clone()), vec![], facts)?;
        self.joined(|push| push.grouped(&aggregate), plan)
    }

    pub fn joined(
        &mut self,
        pushed: impl FnOnce(&mut Push<'_>) -> Result<Pushed>,
        plan: &LogicalPlan,
    ) -> Result<String> {
        let domain = self.domain(plan)?;
        let found = self.named(&domain, pushed)?;
        let on = domain.equal(domain.of_row(), columns(&found.keys));
        let rows = self.rows();
        self.side.plan = join_by(rows, found.plan, on, JoinType::Left, None)?;
        Ok(found.alias)
    }

    /// What has been found so far, to have one more column.
    fn rows(&mut self) -> LogicalPlan {
        self.side.plan.clone()
    }

    fn domain(&mut self, plan: &LogicalPlan) -> Result<Domain> {
        Domain::new(&self.unnester.names.next(), &self.side.rows, outer::of(plan)?)
    }

    /// What is found for each value, under a name of its own: subqueries in there have now a row to depend on.
    fn named(
        &mut self,
        domain: &Domain,
        pushed: impl FnOnce(&mut Push<'_>) -> Result<Pushed>,
    ) -> Result<Found> {
        let names = &mut self.unnester.names;
        let pushed = pushed(&mut Push { domain, names })?;
        let plan = self.unnester.plan(pushed.plan)?.data;
        let alias = self.unnester.names.next();
        let plan = with_names_of(&alias, plan, &pushed.keys)?;
        let named = SubqueryAlias::try_new(Arc::new(plan), alias.clone())?;
        let key = |key: Column| Column::new(Some(alias.clone()), key.name);
        let keys = pushed.keys.into_iter().map(key).collect();
        Ok(Found { plan: LogicalPlan::SubqueryAlias(named), keys, alias })
    }
}

struct Found {
    plan: LogicalPlan,
    keys: Vec<Column>,
    alias: String,
}

impl Joins for Attach<'_> {
    fn column(&self, table: &str, name: &str) -> Expr {
        column(table, name)
    }

    fn one_row(&mut self, row: LogicalPlan) -> Result<String> {
        match &row {
            // Where there is nothing, facts are NULL: that is as good as none.
            LogicalPlan::Aggregate(aggregate) => {
                let aggregate = aggregate.clone();
                self.joined(|push| push.grouped(&aggregate), &row)
            }
            _ => self.joined(|push| push.plan(&row), &row),
        }
    }

    fn mark(&mut self, value: Expr, table: &LogicalPlan) -> Result<Expr> {
        let member = first(table);
        let plan = LogicalPlanBuilder::from(table.clone()).project([member.alias("member")])?;
        let plan = plan.build()?;
        let domain = self.domain(&plan)?;
        let found = self.named(&domain, |push| push.plan(&plan))?;
        let keys = domain.equal(domain.of_row(), columns(&found.keys)).into_iter();
        let same = keys.map(|(left, right)| binary_expr(left, Operator::Eq, right));
        let equal = binary_expr(value, Operator::Eq, column(&found.alias, "member"));
        let marked = LogicalPlanBuilder::from(self.rows());
        let conditions = std::iter::once(equal).chain(same);
        self.side.plan = marked.join_on(found.plan, JoinType::LeftMark, conditions)?.build()?;
        Ok(Expr::Column(Column::new(Some(found.alias), "mark")))
    }
}

/// A column of what has been joined under a name.
pub fn column(table: &str, name: &str) -> Expr {
    Expr::Column(Column::new(Some(table), named_of(table, name)))
}

/// The name of a column that no other has: one without a table would be taken for it otherwise.
fn named_of(table: &str, name: &str) -> String {
    format!("{table}_{name}")
}

fn with_names_of(alias: &str, plan: LogicalPlan, keys: &[Column]) -> Result<LogicalPlan> {
    let columns = plan.schema().columns().into_iter();
    let values = columns.map(|column| match keys.contains(&column) {
        true => Expr::Column(column),
        false => {
            let name = named_of(alias, &column.name);
            Expr::Column(column).alias(name)
        }
    });
    let plan = Projection::try_new(values.collect(), Arc::new(plan))?;
    Ok(LogicalPlan::Projection(plan))
}
