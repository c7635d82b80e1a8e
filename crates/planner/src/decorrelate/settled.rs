//! What is computed twice: rows are joined to what was found for their values, and both are made of the same plan, each by itself.
//!
//! ```text
//! Limit: 3                                     Limit: 3              for the rows themselves
//!   TableScan: t                                 TableScan: t
//!                                    ==>
//!                                              TableScan: t          for their values: all there may be
//! ```
//!
//! Which rows LIMIT takes, which of two equal rows a window counts first, what the last digits of a sum of floats are: that may come out
//! otherwise the second time. Values of which it is not certain that they are there again are no keys ([`Doubt`]); rows of which it is not
//! certain are all taken: more values than there are rows for do no harm.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprSchemable, Filter, Join, LogicalPlan, Union, WindowFrameUnits,
    WindowFunctionDefinition,
};

use super::outer::is_lateral;
use crate::subqueries::subquery_of;

/// Aggregates that come out the same in whatever order they see their rows; sums do if they are not of floats.
const IN_ANY_ORDER: [&str; 16] = [
    "approx_distinct",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "count",
    "grouping",
    "max",
    "median",
    "min",
    "only_row",
    "percentile_cont",
    "regr_count",
    "sum",
];

/// Window functions of which equal rows get the same.
const OF_PEERS: [&str; 4] = ["cume_dist", "dense_rank", "percent_rank", "rank"];

/// What is not certain about a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// Its values will be equal, but `-0.0` may be `0.0`.
    Sign,
    Value,
}

/// A plan that has all rows of another, each time.
pub struct Settled {
    pub plan: LogicalPlan,
    /// Whether it has no more than these.
    is_exact: bool,
    doubts: Vec<(Column, Doubt)>,
}

impl Settled {
    /// Nothing, if that cannot be had.
    pub fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        match plan {
            LogicalPlan::TableScan(_) | LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => {
                Ok(Some(Self { plan: plan.clone(), is_exact: true, doubts: vec![] }))
            }
            LogicalPlan::Filter(filter) => {
                let Some(input) = Self::of(&filter.input)? else { return Ok(None) };
                Ok(Some(match input.doubt_of(&filter.predicate, None)? {
                    None => {
                        let filter = Filter::try_new(filter.predicate.clone(), input.plan.into())?;
                        Self { plan: LogicalPlan::Filter(filter), ..input }
                    }
                    Some(_) => Self { is_exact: false, ..input },
                }))
            }
            LogicalPlan::Limit(limit) => {
                let input = Self::of(&limit.input)?;
                Ok(input.map(|input| Self { is_exact: false, ..input }))
            }
            LogicalPlan::Sort(sort) => Self::of(&sort.input),
            LogicalPlan::Projection(projection) => {
                let Some(input) = Self::of(&projection.input)? else { return Ok(None) };
                let columns = projection.schema.columns();
                let doubts = input.doubts_of(columns.into_iter().zip(&projection.expr))?;
                input.under(plan, doubts)
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let Some(input) = Self::of(&alias.input)? else { return Ok(None) };
                let columns =
                    input.plan.schema().columns().into_iter().zip(plan.schema().columns());
                let doubts = columns
                    .filter_map(|(below, above)| input.doubt(&below).map(|doubt| (above, doubt)));
                let doubts = doubts.collect();
                input.under(plan, doubts)
            }
            LogicalPlan::Aggregate(aggregate) => of_aggregate(plan, aggregate),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let Some(mut input) = Self::of(input)? else { return Ok(None) };
                let doubts = input.doubts.clone();
                input.is_exact &= !doubts.iter().any(|(_, doubt)| *doubt == Doubt::Value);
                input.under(plan, doubts)
            }
            LogicalPlan::Window(window) => {
                let Some(input) = Self::of(&window.input)? else { return Ok(None) };
                let made_from = input.plan.schema().fields().len();
                let columns = plan.schema().columns().into_iter().skip(made_from);
                let mut doubts = input.doubts.clone();
                for (column, made) in columns.zip(&window.window_expr) {
                    let doubt = input.doubt_of_window(made)?;
                    doubts.extend(doubt.map(|doubt| (column, doubt)));
                }
                input.under(plan, doubts)
            }
            LogicalPlan::Join(join) => of_join(plan, join),
            LogicalPlan::Union(union) => of_union(plan, union),
            other => {
                let is_certain = is_certain(other)?;
                Ok(is_certain.then(|| Self { plan: plan.clone(), is_exact: true, doubts: vec![] }))
            }
        }
    }

    pub fn doubt(&self, column: &Column) -> Option<Doubt> {
        self.doubts.iter().find(|(known, _)| known == column).map(|(_, doubt)| *doubt)
    }

    /// The operator over what is settled of its input.
    fn under(self, node: &LogicalPlan, doubts: Vec<(Column, Doubt)>) -> Result<Option<Self>> {
        let plan = node.with_new_exprs(node.expressions(), vec![self.plan])?;
        Ok(Some(Self { plan, is_exact: self.is_exact, doubts }))
    }

    fn doubts_of<'a>(
        &self,
        all: impl Iterator<Item = (Column, &'a Expr)>,
    ) -> Result<Vec<(Column, Doubt)>> {
        let mut doubts = vec![];
        for (column, value) in all {
            doubts.extend(self.doubt_of(value, None)?.map(|doubt| (column, doubt)));
        }
        Ok(doubts)
    }

    /// What is not certain about an expression over these columns, and those of another side.
    fn doubt_of(&self, value: &Expr, other: Option<&Self>) -> Result<Option<Doubt>> {
        let doubt = |column: &Column| {
            self.doubt(column).or_else(|| other.and_then(|other| other.doubt(column)))
        };
        if let Expr::Column(column) = value.clone().unalias_nested().data {
            return Ok(doubt(&column));
        }
        let mut found = None;
        value.apply(|part| {
            let is_doubtful = match part {
                Expr::Column(column) | Expr::OuterReferenceColumn(_, column) => {
                    doubt(column).is_some()
                }
                part => match subquery_of(part) {
                    // It may name any of the columns.
                    Some(subquery) => {
                        !self.doubts.is_empty()
                            || other.is_some_and(|other| !other.doubts.is_empty())
                            || !is_certain(&subquery.subquery)?
                    }
                    None => false,
                },
            };
            if is_doubtful {
                found = Some(Doubt::Value);
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    }

    fn doubt_of_made(&self, name: &str, made: &Expr, arguments: &[Expr]) -> Result<Option<Doubt>> {
        let schema = self.plan.schema().as_ref();
        let is_float = arguments.iter().any(|argument| is_float(argument, schema));
        let is_extreme = matches!(name, "max" | "min" | "only_row");
        let is_counted = matches!(name, "approx_distinct" | "count" | "regr_count");
        let is_same = IN_ANY_ORDER.contains(&name) && (!is_float || is_extreme || is_counted);
        if !self.is_exact || !is_same || self.doubt_of(made, None)?.is_some() {
            return Ok(Some(Doubt::Value));
        }
        Ok((is_float && is_extreme).then_some(Doubt::Sign))
    }

    fn doubt_of_window(&self, made: &Expr) -> Result<Option<Doubt>> {
        let made = made.clone().unalias_nested().data;
        let Expr::WindowFunction(window) = &made else { return Ok(Some(Doubt::Value)) };
        let WindowFunction { fun, params } = window.as_ref();
        match fun {
            // Of all rows up to the last that is equal, or of the whole partition.
            WindowFunctionDefinition::AggregateUDF(function)
                if params.window_frame.units == WindowFrameUnits::Range =>
            {
                self.doubt_of_made(function.name(), &made, &params.args)
            }
            WindowFunctionDefinition::WindowUDF(function)
                if OF_PEERS.contains(&function.name())
                    && self.is_exact
                    && self.doubt_of(&made, None)?.is_none() =>
            {
                Ok(None)
            }
            _ => Ok(Some(Doubt::Value)),
        }
    }
}

/// Whether a plan has the same rows each time.
pub fn is_certain(plan: &LogicalPlan) -> Result<bool> {
    match plan {
        LogicalPlan::RecursiveQuery(_) | LogicalPlan::Subquery(_) | LogicalPlan::Unnest(_) => {
            for input in plan.inputs() {
                if !is_certain(input)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        LogicalPlan::Distinct(Distinct::On(_)) | LogicalPlan::Extension(_) => Ok(false),
        LogicalPlan::Aggregate(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::EmptyRelation(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Join(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Projection(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::TableScan(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::Values(_)
        | LogicalPlan::Window(_) => {
            let settled = Settled::of(plan)?;
            Ok(settled.is_some_and(|settled| settled.is_exact && settled.doubts.is_empty()))
        }
        _ => Ok(false),
    }
}

fn of_aggregate(plan: &LogicalPlan, aggregate: &Aggregate) -> Result<Option<Settled>> {
    let Some(mut input) = Settled::of(&aggregate.input)? else { return Ok(None) };
    for key in &aggregate.group_expr {
        input.is_exact &= input.doubt_of(key, None)? != Some(Doubt::Value);
    }
    let columns = plan.schema().columns();
    let made_from = columns.len() - aggregate.aggr_expr.len();
    let mut doubts = vec![];
    for (at, column) in columns.into_iter().enumerate() {
        let doubt = match at.checked_sub(made_from) {
            None => match aggregate.group_expr.get(at) {
                Some(Expr::GroupingSet(_)) | None if !input.doubts.is_empty() => Some(Doubt::Value),
                Some(key) => input.doubt_of(key, None)?,
                None => None,
            },
            Some(at) => {
                let made = aggregate.aggr_expr[at].clone().unalias_nested().data;
                match &made {
                    Expr::AggregateFunction(AggregateFunction { func, params }) => {
                        input.doubt_of_made(func.name(), &made, &params.args)?
                    }
                    _ => Some(Doubt::Value),
                }
            }
        };
        doubts.extend(doubt.map(|doubt| (column, doubt)));
    }
    input.under(plan, doubts)
}

/// More rows of a side are more rows of the join, unless they stand for others not being there.
fn of_join(plan: &LogicalPlan, join: &Join) -> Result<Option<Settled>> {
    let (Some(left), Some(right)) = (Settled::of(&join.left)?, Settled::of(&join.right)?) else {
        return Ok(None);
    };
    if is_lateral(&join.right) && !left.doubts.is_empty() {
        return Ok(None);
    }
    for condition in plan.expressions() {
        if left.doubt_of(&condition, Some(&right))? == Some(Doubt::Value) {
            return Ok(None);
        }
    }
    let can_have_more = match join.join_type {
        JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi => (true, true),
        JoinType::Left | JoinType::LeftAnti | JoinType::LeftMark => (true, false),
        JoinType::Right | JoinType::RightAnti | JoinType::RightMark => (false, true),
        _ => (false, false),
    };
    if !(left.is_exact || can_have_more.0) || !(right.is_exact || can_have_more.1) {
        return Ok(None);
    }
    let is_exact = left.is_exact && right.is_exact;
    let mut doubts = left.doubts;
    doubts.extend(right.doubts);
    let plan = plan.with_new_exprs(plan.expressions(), vec![left.plan, right.plan])?;
    Ok(Some(Settled { plan, is_exact, doubts }))
}

fn of_union(plan: &LogicalPlan, union: &Union) -> Result<Option<Settled>> {
    let columns = plan.schema().columns();
    let (mut inputs, mut is_exact, mut doubts) = (vec![], true, vec![]);
    for input in &union.inputs {
        let Some(input) = Settled::of(input)? else { return Ok(None) };
        for (below, above) in input.plan.schema().columns().iter().zip(&columns) {
            doubts.extend(input.doubt(below).map(|doubt| (above.clone(), doubt)));
        }
        is_exact &= input.is_exact;
        inputs.push(input.plan);
    }
    // Of two doubts the greater one.
    doubts.sort_by_key(|(_, doubt)| *doubt == Doubt::Sign);
    let plan = plan.with_new_exprs(vec![], inputs)?;
    Ok(Some(Settled { plan, is_exact, doubts }))
}

fn is_float(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|kind| kind.is_floating())
}
