//! A guard around DataFusion's planner and optimizer: no column determines another.
//!
//! ```text
//! Aggregate: d.k, w  (k determines w, says DataFusion)        Aggregate: d.k, w
//!   Inner Join: d.k = b.k                              ==>      Inner Join: d.k = b.k
//!     Distinct: a.k    (k is unique)                              Distinct: a.k
//!     TableScan: b                                                TableScan: b
//! ```
//!
//! DataFusion notes which columns of a plan are unique, or determine others, and believes so still where it is no longer true: above a
//! join and another GROUP BY, above `unnest`; and it looks for them by names, of which `CAST(g AS INT)` has the same as `g`. Then it
//! drops keys of ORDER BY and GROUP BY, DISTINCT, or a join. So whoever reads these notes is shown none:
//!
//! - the SQL planner, which adds keys to a GROUP BY by them: none in what stands in a FROM ([`Relations`]);
//! - the check of the analyzed plan, which takes a subquery for one row by them ([`ForgetDependencies`]);
//! - four rules of the optimizer ([`guarded`]).
//!
//! What is lost is little: that of `ORDER BY k, x` over groups by `k` the `x` is in vain, or a DISTINCT of groups.

use std::cell::Cell;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchemaRef, FunctionalDependencies, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{Distinct, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::sql::sqlparser::ast::TableFactor;

use crate::guard::{self, Verdict};

/// The rules that drop something because a column determines another.
const BELIEVERS: [&str; 4] = [
    "eliminate_duplicated_expr",
    "eliminate_join",
    "optimize_projections",
    "replace_distinct_aggregate",
];

/// The same state, its rules guarded.
pub fn guarded(state: SessionState) -> SessionState {
    guard::around(state, &BELIEVERS, forgetful)
}

/// A rule that is shown one node at a time looks at what that is over.
fn forgetful(plan: LogicalPlan, order: Option<ApplyOrder>) -> Result<Verdict> {
    Ok(Verdict::Shown(match order {
        Some(_) => plan.map_children(|input| of_rows(input).map(Transformed::no)).data()?,
        None => everywhere(plan)?,
    }))
}

/// A step of the analyzer, the last.
#[derive(Debug)]
pub struct ForgetDependencies;

impl AnalyzerRule for ForgetDependencies {
    fn name(&self) -> &str {
        "forget_dependencies"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        everywhere(plan)
    }
}

/// Relations of a FROM, planned as DataFusion does.
#[derive(Debug)]
pub struct Relations;

thread_local! {
    /// Whether DataFusion is about to be asked for the relation that has just been handed on to it. It asks us first, and
    /// within the same call.
    static IS_HANDED_ON: Cell<bool> = const { Cell::new(false) };
}

impl RelationPlanner for Relations {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let is_query =
            matches!(relation, TableFactor::Derived { .. } | TableFactor::Table { args: None, .. });
        if IS_HANDED_ON.take() || !is_query {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        IS_HANDED_ON.set(true);
        let planned = context.plan(relation);
        // Were it not asked for, the next relation would be taken for it.
        IS_HANDED_ON.set(false);
        let plan = of_rows(planned?)?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, None))))
    }
}

/// A plan in which no column is known to determine another.
pub fn everywhere(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_down_with_subqueries(|mut node| {
        if let Some(schema) = schema_of(&mut node) {
            forget(schema)?;
        }
        Ok(Transformed::no(node))
    })
    .data()
}

/// A plan of whose own columns none is known to determine another.
fn of_rows(mut plan: LogicalPlan) -> Result<LogicalPlan> {
    match schema_of(&mut plan) {
        Some(schema) => forget(schema).map(|()| plan),
        // Its columns are those of what is below.
        None => plan.map_children(|input| of_rows(input).map(Transformed::no)).data(),
    }
}

fn forget(schema: &mut DFSchemaRef) -> Result<()> {
    if !schema.functional_dependencies().is_empty() {
        let columns = schema.as_ref().clone();
        *schema = columns.with_functional_dependencies(FunctionalDependencies::empty())?.into();
    }
    Ok(())
}

/// The columns of a node that has some of its own. Those of tables never determine each other.
fn schema_of(node: &mut LogicalPlan) -> Option<&mut DFSchemaRef> {
    match node {
        LogicalPlan::Projection(node) => Some(&mut node.schema),
        LogicalPlan::Window(node) => Some(&mut node.schema),
        LogicalPlan::Aggregate(node) => Some(&mut node.schema),
        LogicalPlan::Join(node) => Some(&mut node.schema),
        LogicalPlan::Union(node) => Some(&mut node.schema),
        LogicalPlan::SubqueryAlias(node) => Some(&mut node.schema),
        LogicalPlan::Unnest(node) => Some(&mut node.schema),
        LogicalPlan::Distinct(Distinct::On(node)) => Some(&mut node.schema),
        _ => None,
    }
}
