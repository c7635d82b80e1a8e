//! LIMIT and OFFSET, for each outer row: rows are numbered among those of the same key.
//!
//! ```text
//! Limit: skip=1, fetch=2            Filter: __outer_2 > 1 AND __outer_2 <= 3
//!   Sort: u.m                ==>      Window: count(*) OVER (PARTITION BY __outer_1_0 ORDER BY u.m ROWS ...) AS __outer_2
//! ```

use std::sync::Arc;

use datafusion::common::Column;
use datafusion::error::Result;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, FetchType, Filter, Limit, LogicalPlan, Projection, SkipType, SortExpr,
    SubqueryAlias, Window, WindowFrame, WindowFrameBound, WindowFrameUnits, lit,
};
use datafusion::scalar::ScalarValue;

use super::domain::columns;
use super::push::{Push, Pushed};
use super::refuse;

impl Push<'_> {
    pub fn limit(&mut self, limit: &Limit) -> Result<Pushed> {
        match limit.input.as_ref() {
            LogicalPlan::Projection(projection) if is_sorted(&projection.input) => {
                let input = under(limit, &projection.input);
                let projection = Projection::try_new(projection.expr.clone(), Arc::new(input))?;
                self.plan(&LogicalPlan::Projection(projection))
            }
            LogicalPlan::SubqueryAlias(alias) if is_sorted(&alias.input) => {
                let input = under(limit, &alias.input);
                let alias = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
                self.plan(&LogicalPlan::SubqueryAlias(alias))
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                let input = self.plan(&sort.input)?;
                let order = self.sort_keys(&sort.expr, &limit.input, &input)?;
                self.first_of(limit, input, &sort.input, order)
            }
            other => {
                let input = self.plan(other)?;
                self.first_of(limit, input, other, vec![])
            }
        }
    }

    fn first_of(
        &mut self,
        limit: &Limit,
        input: Pushed,
        before: &LogicalPlan,
        order: Vec<SortExpr>,
    ) -> Result<Pushed> {
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) =
            (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return refuse("has a LIMIT that is not a number");
        };
        let Pushed { plan, keys } = input;
        let number = self.names.next();
        let so_far = WindowFrame::new_bounds(
            WindowFrameUnits::Rows,
            WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
            WindowFrameBound::CurrentRow,
        );
        let counted = Expr::from(WindowFunction::new(count_udaf(), vec![lit(1)]));
        let counted = counted.partition_by(columns(&keys)).order_by(order).window_frame(so_far);
        let window = Window::try_new(vec![counted.build()?.alias(&number)], Arc::new(plan))?;
        let number = Expr::Column(Column::from_name(number));
        let most = |rows: usize| lit(i64::try_from(rows).unwrap_or(i64::MAX));
        let mut condition = number.clone().gt(most(skip));
        if let Some(fetch) = fetch {
            condition = condition.and(number.lt_eq(most(skip.saturating_add(fetch))));
        }
        let filter = Filter::try_new(condition, Arc::new(LogicalPlan::Window(window)))?;
        let mut values = columns(&before.schema().columns());
        values.extend(columns(&keys));
        let plan = Projection::try_new(values, Arc::new(LogicalPlan::Filter(filter)))?;
        Ok(Pushed { plan: LogicalPlan::Projection(plan), keys })
    }
}

fn under(limit: &Limit, input: &Arc<LogicalPlan>) -> LogicalPlan {
    let (skip, fetch) = (limit.skip.clone(), limit.fetch.clone());
    LogicalPlan::Limit(Limit { skip, fetch, input: Arc::clone(input) })
}

/// Whether rows are in an order that is asked for, however their columns are computed or called after that.
fn is_sorted(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Sort(_) => true,
        LogicalPlan::Projection(projection) => is_sorted(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_sorted(&alias.input),
        _ => false,
    }
}
