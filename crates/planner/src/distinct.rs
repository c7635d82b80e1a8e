//! Pass: `count(DISTINCT x)` as two aggregates, but for sums that may only fit as a whole.
//!
//! ```text
//! count(DISTINCT x), sum(y)    ==>    count(x), sum(sum(y))       where y is a float or a short decimal
//!   t                                   GROUP BY x: sum(y)
//!                                         t
//! ```
//!
//! DataFusion's rule finishes the sums of the rows of each x, and adds those up. Of integers such a sum may be too
//! large where the sum of all rows is not: then one aggregate does it all.

use caudal_functions::checked::is_wide_enough;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::single_distinct_to_groupby::SingleDistinctToGroupBy;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

#[derive(Debug, Default)]
pub struct DistinctAsGroups {
    datafusions: SingleDistinctToGroupBy,
}

impl OptimizerRule for DistinctAsGroups {
    /// In the place of DataFusion's.
    fn name(&self) -> &str {
        self.datafusions.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.datafusions.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if has_sum_that_fits_as_a_whole(&plan)? {
            return Ok(Transformed::no(plan));
        }
        self.datafusions.rewrite(plan, config)
    }
}

fn has_sum_that_fits_as_a_whole(plan: &LogicalPlan) -> Result<bool> {
    let LogicalPlan::Aggregate(aggregate) = plan else { return Ok(false) };
    for expression in &aggregate.aggr_expr {
        if let Expr::AggregateFunction(call) = expression
            && call.func.name() == "sum"
            && !call.params.distinct
            && let [values] = call.params.args.as_slice()
            && !is_wide_enough(&values.get_type(aggregate.input.schema())?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
