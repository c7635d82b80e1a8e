//! Aggregates, for all outer rows at once: their values are keys of the groups, too.
//!
//! ```text
//! Aggregate: count(*)            Projection: coalesce(count(*), 0), __outer_1_0
//!   Filter: u.m < outer(t.n)       Left Join: __outer_1_0 is __outer_2
//!     TableScan: u          ==>      SubqueryAlias: __outer_1
//!                                    Projection: count(*), __outer_1_0 AS __outer_2
//!                                      Aggregate: groupBy=[__outer_1_0], count(*)
//!                                        Filter: u.m < __outer_1_0
//! ```
//!
//! Without keys of its own (or with a grouping set of none) an aggregate gives a row for every outer row, also where there is nothing to aggregate: of these
//! groups nothing is seen, and what the aggregate is then stands here.

use std::sync::Arc;

use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, JoinType};
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, lit};
use datafusion::prelude::coalesce;
use datafusion::scalar::ScalarValue;

use super::domain::{columns, join_by};
use super::grouping_sets::has_group_of_all;
use super::push::{Push, Pushed};
use super::refuse;

/// Aggregates that are 0 for no rows.
const COUNTS: [&str; 3] = ["approx_distinct", "count", "regr_count"];

/// Aggregates that are NULL for no rows.
const NULL_FOR_NOTHING: [&str; 36] = [
    "any_value",
    "approx_median",
    "approx_percentile_cont",
    "approx_percentile_cont_with_weight",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "covar_pop",
    "covar_samp",
    "first_value",
    "last_value",
    "max",
    "median",
    "min",
    "nth_value",
    "percentile_cont",
    "regr_avgx",
    "regr_avgy",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "var",
    "var_pop",
];

impl Push<'_> {
    pub fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Pushed> {
        let grouped = self.grouped(aggregate)?;
        match has_group_of_all(aggregate)? {
            true => self.with_empty_groups(aggregate, grouped),
            false => Ok(grouped),
        }
    }

    /// The groups that there are.
    pub fn grouped(&mut self, aggregate: &Aggregate) -> Result<Pushed> {
        if aggregate.aggr_expr.iter().any(belongs_outside) {
            return refuse("has an aggregate of nothing but the row around it");
        }
        let node = LogicalPlan::Aggregate(aggregate.clone());
        let input = self.plan(&aggregate.input)?;
        let keys = self.group_keys(aggregate, &input)?;
        let aggregates = self.named(&aggregate.aggr_expr, &node, &input)?;
        let aggregate = Aggregate::try_new(Arc::new(input.plan), keys, aggregates)?;
        let plan = self.domain.with_signs(LogicalPlan::Aggregate(aggregate), &input.keys)?;
        Ok(Pushed { plan, keys: input.keys })
    }

    fn with_empty_groups(&mut self, aggregate: &Aggregate, grouped: Pushed) -> Result<Pushed> {
        let known = LogicalPlan::Aggregate(aggregate.clone()).schema().columns();
        let groups = self.relabelled(grouped, &known)?;
        let (domain, keys) = (self.domain.plan.clone(), self.domain.keys.clone());
        let on = self.domain.equal(columns(&keys), columns(&groups.keys));
        let joined = join_by(domain, groups.plan, on, JoinType::Left, None)?;
        let names = NamePreserver::new_for_projection();
        let mut values = vec![];
        // What it groups by is NULL in a group of all.
        let made_from = known.len() - aggregate.aggr_expr.len();
        for (at, column) in known.into_iter().enumerate() {
            let column = Expr::Column(column);
            let name = names.save(&column);
            let is_count = at >= made_from && is_count(&aggregate.aggr_expr[at - made_from])?;
            values.push(match is_count {
                true => {
                    let zero = ScalarValue::new_zero(aggregate.schema.field(at).data_type())?;
                    name.restore(coalesce(vec![column, lit(zero)]))
                }
                false => column,
            });
        }
        values.extend(columns(&keys));
        let plan = Projection::try_new(values, Arc::new(joined))?;
        Ok(Pushed { plan: LogicalPlan::Projection(plan), keys })
    }

    /// The plan with these columns, and with keys of new names.
    pub fn relabelled(&mut self, pushed: Pushed, known: &[Column]) -> Result<Pushed> {
        let names: Vec<String> = pushed.keys.iter().map(|_| self.names.next()).collect();
        let mut values = columns(known);
        let keys = columns(&pushed.keys).into_iter().zip(&names);
        values.extend(keys.map(|(key, name)| key.alias(name)));
        let plan = Projection::try_new(values, Arc::new(pushed.plan))?;
        let keys = names.into_iter().map(Column::from_name).collect();
        Ok(Pushed { plan: LogicalPlan::Projection(plan), keys })
    }
}

/// Whether an aggregate is 0 for no rows, and not NULL.
pub fn is_count(made: &Expr) -> Result<bool> {
    let Expr::AggregateFunction(call) = made.clone().unalias_nested().data else {
        return refuse("is too complicated");
    };
    let name = call.func.name();
    match COUNTS.contains(&name) {
        false if !NULL_FOR_NOTHING.contains(&name) && name != "only_row" => {
            refuse(&format!("has {name} over what may be no rows"))
        }
        is_count => Ok(is_count),
    }
}

/// An aggregate of what the query around has alone would be that query's.
fn belongs_outside(made: &Expr) -> bool {
    let names_outer = |part: &Expr| Ok(matches!(part, Expr::OuterReferenceColumn(..)));
    made.exists(names_outer).unwrap_or(true) && !made.any_column_refs()
}
