//! Scalar subqueries: of one row, or of how many it will be seen.
//!
//! | the subquery | joined, for each value of the outer columns | stands for it |
//! |---|---|---|
//! | `SELECT count(*) + 1 FROM ...` | the groups that there are | `coalesce(count(*), 0) + 1` |
//! | another aggregate, `... LIMIT 1` | the value | the value |
//! | any | the first value, the number of rows | `only_value(value, rows)`: an error if there are more |

use caudal_functions::exact::only_value;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::{count, first_value};
use datafusion::logical_expr::{
    Aggregate, Expr, FetchType, LogicalPlan, LogicalPlanBuilder, Projection, lit,
};
use datafusion::prelude::coalesce;
use datafusion::scalar::ScalarValue;

use super::found::{Attach, column};
use super::groups::is_count;
use super::outer;
use crate::subqueries::kinds::Joins;
use crate::subqueries::one_row::{first, is_one};
use crate::subqueries::subquery_of;

impl Attach<'_> {
    pub fn value(&mut self, plan: &LogicalPlan) -> Result<Expr> {
        if let Some((value, aggregate)) = over_groups(plan)? {
            let groups = LogicalPlan::Aggregate(aggregate.clone());
            let table = self.joined(|push| push.grouped(aggregate), &groups)?;
            return of_group(value, aggregate, &table);
        }
        let value = first(plan);
        if is_one(plan) || is_limited(plan) {
            let plan = LogicalPlanBuilder::from(plan.clone()).project([value.alias("value")])?;
            let table = self.one_row(plan.build()?)?;
            return Ok(column(&table, "value"));
        }
        let facts = vec![first_value(value, vec![]).alias("value"), count(lit(1)).alias("rows")];
        let table = self.aggregated(plan, facts)?;
        Ok(only_value().call(vec![column(&table, "value"), column(&table, "rows")]))
    }
}

/// An aggregate over all rows that depends on the outer row, and what is computed from it.
fn over_groups(plan: &LogicalPlan) -> Result<Option<(&Expr, &Aggregate)>> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = plan else { return Ok(None) };
    let (LogicalPlan::Aggregate(aggregate), [value]) = (input.as_ref(), expr.as_slice()) else {
        return Ok(None);
    };
    let has_subquery = value.exists(|part| Ok(subquery_of(part).is_some()))?;
    let is_one = aggregate.group_expr.is_empty() && !outer::of(input)?.is_empty();
    Ok((is_one && !has_subquery).then_some((value, aggregate)))
}

/// The same of a row around the subquery, which has its group beside it, or none.
fn of_group(value: &Expr, aggregate: &Aggregate, table: &str) -> Result<Expr> {
    let value = value.clone().unalias().transform_up(|part| match part {
        Expr::Column(made) => {
            let at = aggregate.schema.index_of_column(&made)?;
            let field = aggregate.schema.field(at);
            let group = column(table, field.name());
            Ok(Transformed::yes(match is_count(&aggregate.aggr_expr[at])? {
                true => coalesce(vec![group, lit(ScalarValue::new_zero(field.data_type())?)]),
                false => group,
            }))
        }
        Expr::OuterReferenceColumn(_, column) => Ok(Transformed::yes(Expr::Column(column))),
        other => Ok(Transformed::no(other)),
    });
    value.data()
}

/// Whether there is a LIMIT of one row, or none.
fn is_limited(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_limited(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_limited(&alias.input),
        LogicalPlan::Filter(filter) => is_limited(&filter.input),
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1))))
        }
        _ => false,
    }
}
