//! Identity of plans.
//!
//! Two stages become one only if nothing that they do differs. What a plan shows of itself on a screen is not
//! enough to say so: it leaves out the rows of VALUES, the direction of an aggregate's top-k, parentheses, which
//! side of a join a column is of. So three accounts have to agree, none of which is a list that we keep:
//!
//! - the [bytes](crate::codec) from which the plan can be made again (an operator that they do not know is the
//!   same as no other);
//! - every expression of every operator, by the equality that DataFusion demands of expressions;
//! - the text, with the types of all columns and literals.
//!
//! The bytes leave out FILTER and IGNORE NULLS of window functions, so of these the debugging text is compared,
//! which is derived from their fields. (Over a CASE it is not: it shows a hash table, in any order, and two
//! processes have to come to the same verdict.)

use std::any::Any;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};

use crate::codec;
use crate::fingerprint::text_of;

/// The parts of a plan that can be compared.
#[derive(Clone, Debug)]
pub struct Identity {
    plan: Arc<dyn ExecutionPlan>,
    text: String,
    /// None: with an operator that nobody can serialise.
    bytes: Option<Vec<u8>>,
}

impl Identity {
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Self {
        let bytes = codec::encode(plan).ok();
        Self { plan: Arc::clone(plan), text: text_of(plan), bytes }
    }

    /// Whether the two do the same to the same rows.
    pub fn is(&self, other: &Identity) -> bool {
        self.text == other.text
            && self.bytes.is_some()
            && self.bytes == other.bytes
            && operators_equal(&self.plan, &other.plan)
    }

    /// Bytes that go into the fingerprint: the same in every process.
    pub fn digest(&self) -> impl Iterator<Item = &[u8]> {
        [self.text.as_bytes(), self.bytes.as_deref().unwrap_or_default()].into_iter()
    }
}

fn operators_equal(one: &Arc<dyn ExecutionPlan>, other: &Arc<dyn ExecutionPlan>) -> bool {
    let (ours, theirs) = (one.children(), other.children());
    one.name() == other.name()
        && expressions(one) == expressions(other)
        && aggregates_equal(one, other)
        && windows_equal(one, other)
        && ours.len() == theirs.len()
        && ours.into_iter().zip(theirs).all(|(one, other)| operators_equal(one, other))
}

fn expressions(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn PhysicalExpr>> {
    let mut expressions = vec![];
    plan.apply_expressions(&mut |expression| {
        // What a top-k fills while it runs is equal to nothing but itself, and empty before.
        if !(expression.as_ref() as &dyn Any).is::<DynamicFilterPhysicalExpr>() {
            expressions.push(Arc::clone(expression));
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .expect("the walk's closure never fails");
    expressions
}

fn aggregates_equal(one: &Arc<dyn ExecutionPlan>, other: &Arc<dyn ExecutionPlan>) -> bool {
    match (aggregate(one), aggregate(other)) {
        (Some(one), Some(other)) => one.aggr_expr() == other.aggr_expr(),
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn aggregate(plan: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    (plan.as_ref() as &dyn Any).downcast_ref()
}

fn windows_equal(one: &Arc<dyn ExecutionPlan>, other: &Arc<dyn ExecutionPlan>) -> bool {
    match (windows(one), windows(other)) {
        (Some(ours), Some(theirs)) => ours == theirs && !ours.contains("CaseExpr"),
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    }
}

/// The window functions of the operator, if it has any, with all their fields.
fn windows(plan: &Arc<dyn ExecutionPlan>) -> Option<String> {
    let node = plan.as_ref() as &dyn Any;
    let plain = node.downcast_ref::<WindowAggExec>().map(WindowAggExec::window_expr);
    let bounded =
        node.downcast_ref::<BoundedWindowAggExec>().map(BoundedWindowAggExec::window_expr);
    plain.or(bounded).map(|windows| format!("{windows:?}"))
}
