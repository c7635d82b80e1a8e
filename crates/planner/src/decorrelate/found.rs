//! What subqueries give, joined to the rows that they are asked of: for each row one.
//!
//! `IN`, `ANY` and `ALL` are what [`kinds`](crate::subqueries) says, over facts about the set and a mark.

use std::rc::Rc;
use std::sync::Arc;

use datafusion::common::{Column, JoinType};
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{
    Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Operator, Projection, SubqueryAlias,
    binary_expr, lit, not,
};

use super::attach::Side;
use super::domain::{Domain, columns, join_by};
use super::outer;
use super::push::{Push, Pushed};
use super::settled::is_certain;
use super::{Unnester, refuse};
use crate::subqueries::kinds::{self, Joins};
use crate::subqueries::of_outer_row;
use crate::subqueries::one_row::{self, Summary, first};

pub struct Attach<'a> {
    pub unnester: &'a mut Unnester,
    pub side: &'a mut Side,
}

impl Attach<'_> {
    pub fn replacement(&mut self, part: Expr) -> Result<Expr> {
        match part {
            Expr::ScalarSubquery(subquery) => self.value(&subquery.subquery),
            Expr::Exists(exists) => {
                let rows = count(lit(1)).alias("rows");
                let table = self.aggregated(&exists.subquery.subquery, vec![rows])?;
                let rows = column(&table, "rows");
                Ok(if exists.negated { rows.is_null() } else { rows.is_not_null() })
            }
            Expr::InSubquery(InSubquery { expr, subquery, negated })
                if !is_certain(&subquery.subquery)? =>
            {
                let is_in = self.is_in_at_once(*expr, &subquery.subquery)?;
                Ok(if negated { not(is_in) } else { is_in })
            }
            Expr::SetComparison(SetComparison { expr, subquery, op, quantifier })
                if is_in(op, &quantifier).is_some() && !is_certain(&subquery.subquery)? =>
            {
                let found = self.is_in_at_once(*expr, &subquery.subquery)?;
                Ok(if is_in(op, &quantifier) == Some(true) { found } else { not(found) })
            }
            other => kinds::replacement(other, self),
        }
    }

    /// `IN` by one look at the set: another might find other rows.
    fn is_in_at_once(&mut self, value: Expr, plan: &LogicalPlan) -> Result<Expr> {
        if !value.column_refs().into_iter().all(|column| self.side.rows.schema().has_column(column))
        {
            return refuse("is compared with what another one gives, and has a LIMIT");
        }
        let inside = of_outer_row(value.clone(), self.side.rows.schema())?;
        let facts = one_row::summary(plan, Summary::Equals(inside))?;
        let table = self.one_row(facts)?;
        kinds::decided(column(&table, "equals").gt(lit(0)), true, value, &table, &*self)
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
        let rows = self.side.plan.clone();
        self.side.plan = join_by(rows, found.plan, on, JoinType::Left, None)?;
        Ok(found.alias)
    }

    fn domain(&mut self, plan: &LogicalPlan) -> Result<Rc<Domain>> {
        let mut named = outer::of(plan)?;
        named.sort_by_cached_key(|outer| outer.column.flat_name());
        if let Some(known) = self.side.domains.iter().find(|domain| domain.outer == named) {
            return Ok(Rc::clone(known));
        }
        let domain = Domain::new(&self.unnester.names.next(), &self.side.rows, named)?;
        let domain = Rc::new(domain);
        self.side.domains.push(Rc::clone(&domain));
        Ok(domain)
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
        let marked = LogicalPlanBuilder::from(self.side.plan.clone());
        let conditions = std::iter::once(equal).chain(same);
        self.side.plan = marked.join_on(found.plan, JoinType::LeftMark, conditions)?.build()?;
        Ok(Expr::Column(Column::new(Some(found.alias), "mark")))
    }
}

/// Whether a comparison with a set asks if a value is in it, or if it is not.
fn is_in(op: Operator, quantifier: &SetQuantifier) -> Option<bool> {
    match (op, quantifier) {
        (Operator::Eq, SetQuantifier::Any) => Some(true),
        (Operator::NotEq, SetQuantifier::All) => Some(false),
        _ => None,
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
