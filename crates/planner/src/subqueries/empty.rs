//! Pass: what an aggregate that depends on the row gives where there are no rows is not forgotten.
//!
//! ```text
//! (SELECT count(*) IS NULL              (SELECT beside(count(*) IS NULL, count(*))
//!  FROM u WHERE u.k = t.k)       ==>     FROM u WHERE u.k = t.k)
//! ```
//!
//! DataFusion joins such a subquery, and where no row is found computes from what `count(*)` gives for none. For that it looks
//! for the aggregate in the expression: which is not in there any more, once it is known that a count is never NULL. Beside the
//! aggregate, an expression stays one about it.

use std::sync::Arc;

use caudal_functions::exact::beside;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Subquery};

use super::independent;
use super::one_row::{first, is_one};

/// In subqueries of any kind, and right of LATERAL.
pub fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Subquery(subquery)
            if !independent(&subquery) && is_one(&subquery.subquery) =>
        {
            let plan = beside_aggregates(subquery.subquery.as_ref())?;
            let subquery = Subquery { subquery: Arc::new(plan), ..subquery };
            Ok(Transformed::yes(LogicalPlan::Subquery(subquery)))
        }
        other => Ok(Transformed::no(other)),
    })
    .data()
}

fn beside_aggregates(plan: &LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(projection) = plan else { return Ok(plan.clone()) };
    let input = beside_aggregates(&projection.input)?;
    let aggregate = first(&input);
    let named = projection.expr.iter().zip(projection.schema.iter());
    let values = named.map(|(value, (qualifier, field))| match value.clone().unalias() {
        Expr::Column(_) => value.clone(),
        computed => beside()
            .call(vec![computed, aggregate.clone()])
            .alias_qualified(qualifier.cloned(), field.name()),
    });
    let values: Vec<_> = values.collect();
    LogicalPlanBuilder::from(input).project(values)?.build()
}
