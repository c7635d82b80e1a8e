//! A guard around DataFusion's physical optimizer: what is constant on the optional side of an outer join, or below grouping
//! sets, is not constant above them.
//!
//! ```text
//! SortExec: c NULLS FIRST                       SortExec: c NULLS FIRST
//!   NestedLoopJoinExec: Full                      NestedLoopJoinExec: Full
//!     ProjectionExec: 5 as c            ==>         ForgetConstantsExec
//!       ...                                           ProjectionExec: 5 as c
//!     ...                                           ...
//! ```
//!
//! DataFusion takes `c` for a constant in the join's output, too, where it may be NULL, and drops the sort. So such a side is below a node
//! that says nothing about constants. It stays there, for sorts and aggregates ask again when they run. Likewise above `GROUP BY ROLLUP (c)`: taken for sorted by `c`, its groups would be thought complete too soon, and come in pieces.
//! And of a union whose sides know different things, `SELECT a, a AS b` and `SELECT a, 3 AS b`, DataFusion says first that it is
//! sorted by both, and then that it is not, and refuses the plan: there the sides are covered, too, order and all, so that what
//! sorts them stands above the cover and sorts by all it is asked for. These covers are taken out after the last of its rules.
//! What exchanges know of their rows ([`known_of`]) follows the same rule.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};

use crate::exchange::ExchangeExec;
use crate::region::with_children;

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The same state, its physical optimizer guarded.
pub fn guarded(state: SessionState) -> SessionState {
    let mut rules: Vec<Rule> = vec![Arc::new(Cover)];
    rules.extend(state.physical_optimizers().iter().cloned());
    rules.push(Arc::new(UncoverUnions));
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build()
}

#[derive(Debug)]
struct Cover;

impl PhysicalOptimizerRule for Cover {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        covered(plan)
    }

    fn name(&self) -> &str {
        "cover_optional_sides"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct UncoverUnions;

impl PhysicalOptimizerRule for UncoverUnions {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            match (node.as_ref() as &dyn Any).downcast_ref::<ForgetConstantsExec>() {
                Some(cover) if !cover.keeps_order => Ok(Transformed::yes(Arc::clone(&cover.input))),
                _ => Ok(Transformed::no(node)),
            }
        })
        .data()
    }

    fn name(&self) -> &str {
        "uncover_unions"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Known properties of a plan's rows, without what DataFusion wrongly takes for constant.
pub fn known_of(plan: &Arc<dyn ExecutionPlan>) -> EquivalenceProperties {
    // A plan that cannot be built anew is one of which nothing is known.
    match covered(Arc::clone(plan)) {
        Ok(covered) => covered.equivalence_properties().clone(),
        Err(_) => EquivalenceProperties::new(plan.schema()),
    }
}

/// The plan down to its exchanges, which have been judged when they were made, with such places covered.
fn covered(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if ExchangeExec::at(&plan).is_some() || plan.children().is_empty() {
        return Ok(plan);
    }
    let optional = join_type(&plan).map_or([false, false], optional_sides);
    let is_union = is_union(&plan);
    let mut children = vec![];
    let mut is_new = false;
    for (at, child) in plan.children().into_iter().enumerate() {
        let mut below = covered(Arc::clone(child))?;
        let is_optional = optional.get(at).is_some_and(|is_optional| *is_optional);
        if is_optional && has_constants(&below) {
            below = ForgetConstantsExec::over(below, true);
        } else if is_union && has_equals(&below) {
            below = ForgetConstantsExec::over(below, false);
        }
        is_new |= !Arc::ptr_eq(&below, child);
        children.push(below);
    }
    let plan = if is_new { with_children(plan, children)? } else { plan };
    match has_grouping_sets(&plan) && has_constants(&plan) {
        true => Ok(ForgetConstantsExec::over(plan, true)),
        false => Ok(plan),
    }
}

fn has_grouping_sets(node: &Arc<dyn ExecutionPlan>) -> bool {
    let aggregate = (node.as_ref() as &dyn Any).downcast_ref::<AggregateExec>();
    aggregate.is_some_and(|aggregate| aggregate.group_expr().groups().len() > 1)
}

fn join_type(node: &Arc<dyn ExecutionPlan>) -> Option<JoinType> {
    let node = node.as_ref() as &dyn Any;
    let hash = node.downcast_ref::<HashJoinExec>().map(|join| *join.join_type());
    let nested = node.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type());
    let merge = node.downcast_ref::<SortMergeJoinExec>().map(|join| join.join_type());
    hash.or(nested).or(merge)
}

/// Whether the left and the right side may be NULL for want of a match.
fn optional_sides(join: JoinType) -> [bool; 2] {
    match join {
        JoinType::Left => [false, true],
        JoinType::Right => [true, false],
        JoinType::Full => [true, true],
        JoinType::Inner
        | JoinType::LeftSemi
        | JoinType::RightSemi
        | JoinType::LeftAnti
        | JoinType::RightAnti
        | JoinType::LeftMark
        | JoinType::RightMark => [false, false],
    }
}

fn is_union(node: &Arc<dyn ExecutionPlan>) -> bool {
    let node = node.as_ref() as &dyn Any;
    node.is::<UnionExec>() || node.is::<InterleaveExec>()
}

/// Whether columns are known to be constant, or equal to others.
fn has_equals(plan: &Arc<dyn ExecutionPlan>) -> bool {
    !plan.equivalence_properties().eq_group().is_empty()
}

fn has_constants(plan: &Arc<dyn ExecutionPlan>) -> bool {
    !plan.equivalence_properties().constants().is_empty()
}

/// Its input, of whose columns nothing is known but their order, or nothing at all.
#[derive(Debug)]
pub struct ForgetConstantsExec {
    input: Arc<dyn ExecutionPlan>,
    keeps_order: bool,
    properties: Arc<PlanProperties>,
}

impl ForgetConstantsExec {
    /// What is below it, if this is one.
    pub fn below(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
        (plan.as_ref() as &dyn Any).downcast_ref().map(|cover: &Self| &cover.input)
    }

    pub fn over(input: Arc<dyn ExecutionPlan>, keeps_order: bool) -> Arc<dyn ExecutionPlan> {
        let order = input.output_ordering().cloned().filter(|_| keeps_order);
        let known = EquivalenceProperties::new_with_orderings(input.schema(), order);
        let properties = PlanProperties::new(
            known,
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Arc::new(Self { input, keeps_order, properties: Arc::new(properties) })
    }
}

impl DisplayAs for ForgetConstantsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForgetConstantsExec")
    }
}

impl ExecutionPlan for ForgetConstantsExec {
    fn name(&self) -> &str {
        "ForgetConstantsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.keeps_order]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Self::over(children.swap_remove(0), self.keeps_order))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
