//! A dependent join, pushed down: what a plan gives for one outer row becomes what it gives for all of them, each of its rows beside
//! the values (the keys) that it is for.
//!
//! ```text
//! Filter: u.m < outer(t.n)             Filter: u.m < __outer_1_0
//!   TableScan: u                 ==>     CrossJoin:
//!                                          SubqueryAlias: __outer_1
//!                                          TableScan: u
//! ```
//!
//! Down to where nothing names the outer row any more: what is there is the same for all rows, and stands beside each. The rows of
//! each key go on to be as many as there are, in no order.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::error::Result;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Distinct, DistinctOn, Expr, ExprSchemable, Filter, LogicalPlan, Projection, SortExpr,
    SubqueryAlias, Union, Values, Window,
};

use super::domain::{Domain, columns, join_by};
use super::names::Names;
use super::outer;
use super::refuse;
use super::renamed::Renamed;

pub struct Push<'a> {
    pub domain: &'a Domain,
    pub names: &'a mut Names,
}

/// A plan that has the keys among its columns.
pub struct Pushed {
    pub plan: LogicalPlan,
    pub keys: Vec<Column>,
}

impl Push<'_> {
    pub fn plan(&mut self, plan: &LogicalPlan) -> Result<Pushed> {
        if !self.is_named_in(plan)? {
            return self.beside(plan.clone());
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let input = self.plan(&filter.input)?;
                let predicate = self.said(filter.predicate.clone(), plan, &input)?;
                let filter = Filter::try_new(predicate, Arc::new(input.plan))?;
                Ok(Pushed { plan: LogicalPlan::Filter(filter), keys: input.keys })
            }
            LogicalPlan::Projection(projection) => {
                let input = self.plan(&projection.input)?;
                let mut values = self.named(&projection.expr, plan, &input)?;
                values.extend(columns(&input.keys));
                let projection = Projection::try_new(values, Arc::new(input.plan))?;
                Ok(Pushed { plan: LogicalPlan::Projection(projection), keys: input.keys })
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let input = self.plan(&alias.input)?;
                let keys = input
                    .keys
                    .into_iter()
                    .map(|key| Column::new(Some(alias.alias.clone()), key.name));
                let keys = keys.collect();
                let alias = SubqueryAlias::try_new(Arc::new(input.plan), alias.alias.clone())?;
                Ok(Pushed { plan: LogicalPlan::SubqueryAlias(alias), keys })
            }
            LogicalPlan::Subquery(lateral) => self.plan(&lateral.subquery),
            // An order that no LIMIT asks for.
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.plan(&sort.input),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let Pushed { plan, keys } = self.plan(input)?;
                let plan = LogicalPlan::Distinct(Distinct::All(Arc::new(plan)));
                Ok(Pushed { plan: self.domain.with_signs(plan, &keys)?, keys })
            }
            LogicalPlan::Distinct(Distinct::On(distinct)) => self.distinct_on(distinct, plan),
            LogicalPlan::Window(window) => self.window(window, plan),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Values(values) => self.values(values, plan),
            LogicalPlan::Unnest(unnest) => {
                let Pushed { plan: input, keys } = self.plan(&unnest.input)?;
                let plan = plan.with_new_exprs(plan.expressions(), vec![input])?;
                Ok(Pushed { plan, keys })
            }
            _ => refuse("is too complicated"),
        }
    }

    pub fn is_named_in(&self, plan: &LogicalPlan) -> Result<bool> {
        outer::names_one_of(plan, &self.domain.outer)
    }

    /// The same rows for each key.
    fn beside(&mut self, plan: LogicalPlan) -> Result<Pushed> {
        let (domain, keys) = (self.domain.plan.clone(), self.domain.keys.clone());
        let is_one_row =
            matches!(&plan, LogicalPlan::EmptyRelation(empty) if empty.produce_one_row);
        if is_one_row && plan.schema().fields().is_empty() {
            return Ok(Pushed { plan: domain, keys });
        }
        Ok(Pushed { plan: join_by(domain, plan, vec![], JoinType::Inner, None)?, keys })
    }

    /// An expression of an operator, over an input that has the keys.
    pub fn said(&self, expression: Expr, node: &LogicalPlan, input: &Pushed) -> Result<Expr> {
        self.renamed(&input.keys).in_expression(expression, node)
    }

    pub fn renamed(&self, keys: &[Column]) -> Renamed {
        Renamed::new(self.domain.outer.iter().map(|outer| &outer.column), keys)
    }

    /// Expressions that go on to be called as before.
    pub fn named(&self, all: &[Expr], node: &LogicalPlan, input: &Pushed) -> Result<Vec<Expr>> {
        let names = NamePreserver::new_for_projection();
        let named = all.iter().map(|expression| {
            let name = names.save(expression);
            self.said(expression.clone(), node, input).map(|said| name.restore(said))
        });
        named.collect()
    }

    fn distinct_on(&mut self, distinct: &DistinctOn, node: &LogicalPlan) -> Result<Pushed> {
        let input = self.plan(&distinct.input)?;
        let mut on = columns(&input.keys);
        for expression in &distinct.on_expr {
            on.push(self.said(expression.clone(), node, &input)?);
        }
        let mut selected = self.named(&distinct.select_expr, node, &input)?;
        selected.extend(columns(&input.keys));
        let sort = match &distinct.sort_expr {
            None => None,
            Some(sort) => {
                let keys = columns(&input.keys).into_iter().map(|key| key.sort(true, true));
                let mut all: Vec<SortExpr> = keys.collect();
                all.extend(self.sort_keys(sort, node, &input)?);
                Some(all)
            }
        };
        let keys = input.keys;
        let distinct = DistinctOn::try_new(on, selected, sort, Arc::new(input.plan))?;
        Ok(Pushed { plan: LogicalPlan::Distinct(Distinct::On(distinct)), keys })
    }

    pub fn sort_keys(
        &self,
        all: &[SortExpr],
        node: &LogicalPlan,
        input: &Pushed,
    ) -> Result<Vec<SortExpr>> {
        let said = all.iter().map(|key| {
            let expression = self.said(key.expr.clone(), node, input)?;
            Ok(SortExpr::new(expression, key.asc, key.nulls_first))
        });
        said.collect()
    }

    /// Each key has a partition of its own.
    fn window(&mut self, window: &Window, node: &LogicalPlan) -> Result<Pushed> {
        let input = self.plan(&window.input)?;
        let names = NamePreserver::new_for_projection();
        let mut all = vec![];
        for expression in &window.window_expr {
            let name = names.save(expression);
            let said = self.said(expression.clone(), node, &input)?;
            all.push(name.restore(partitioned(said, &input.keys)?));
        }
        let window = Window::try_new(all, Arc::new(input.plan))?;
        Ok(Pushed { plan: LogicalPlan::Window(window), keys: input.keys })
    }

    fn union(&mut self, union: &Union) -> Result<Pushed> {
        let names: Vec<String> = self.domain.keys.iter().map(|_| self.names.next()).collect();
        let mut inputs = vec![];
        for input in &union.inputs {
            let Pushed { plan, keys } = self.plan(input)?;
            let mut values: Vec<Expr> = columns(&input.schema().columns());
            values
                .extend(columns(&keys).into_iter().zip(&names).map(|(key, name)| key.alias(name)));
            let plan = Projection::try_new(values, Arc::new(plan))?;
            inputs.push(Arc::new(LogicalPlan::Projection(plan)));
        }
        let plan = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
        Ok(Pushed { plan, keys: names.into_iter().map(Column::from_name).collect() })
    }

    /// Rows that name the outer row: a projection of the keys each.
    fn values(&mut self, values: &Values, node: &LogicalPlan) -> Result<Pushed> {
        let input = Pushed { plan: self.domain.plan.clone(), keys: self.domain.keys.clone() };
        let names: Vec<String> = input.keys.iter().map(|_| self.names.next()).collect();
        let schema: DFSchema = merge_schema(&[&input.plan]);
        let mut rows = vec![];
        for row in &values.values {
            let mut cells = vec![];
            for (cell, (qualifier, field)) in row.iter().zip(values.schema.iter()) {
                let said = self.said(cell.clone(), node, &input)?;
                let said = match said.get_type(&schema)? == *field.data_type() {
                    true => said,
                    false => said.cast_to(field.data_type(), &schema)?,
                };
                cells.push(said.alias_qualified(qualifier.cloned(), field.name()));
            }
            let keys = columns(&input.keys).into_iter().zip(&names);
            cells.extend(keys.map(|(key, name)| key.alias(name)));
            let row = Projection::try_new(cells, Arc::new(input.plan.clone()))?;
            rows.push(Arc::new(LogicalPlan::Projection(row)));
        }
        let plan = match rows.len() {
            1 => Arc::unwrap_or_clone(rows.swap_remove(0)),
            _ => LogicalPlan::Union(Union::try_new_with_loose_types(rows)?),
        };
        Ok(Pushed { plan, keys: names.into_iter().map(Column::from_name).collect() })
    }
}

fn partitioned(window: Expr, keys: &[Column]) -> Result<Expr> {
    window
        .transform_up(|part| match part {
            Expr::WindowFunction(window) => {
                let WindowFunction { fun, mut params } = *window;
                params.partition_by.extend(columns(keys));
                let window = WindowFunction { fun, params };
                Ok(Transformed::yes(Expr::WindowFunction(Box::new(window))))
            }
            other => Ok(Transformed::no(other)),
        })
        .data()
}
