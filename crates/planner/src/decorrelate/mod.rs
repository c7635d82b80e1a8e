//! Pass: subqueries that depend on the row around them, in general.
//!
//! As Neumann and Kemper describe ("Unnesting Arbitrary Queries"): a subquery is answered for all distinct values of the outer
//! columns that it names at once, and what is found is joined to the rows that have these values.
//!
//! ```text
//! Projection: w.k, (<subquery>)            Projection: w.k, coalesce(__outer_2.count(*), 0)
//!   TableScan: w                             Left Join: w.v is __outer_2.__outer_1_0
//!                                  ==>         TableScan: w
//!   subquery:                                  SubqueryAlias: __outer_2
//!   Projection: count(*)                         Aggregate: groupBy=[__outer_1_0], count(*)
//!     Aggregate: count(*)                          Filter: x.v < __outer_1_0
//!       Filter: x.v < outer(w.v)                     CrossJoin:
//!         TableScan: x                                 SubqueryAlias: __outer_1
//!                                                        Distinct: w.v
//!                                                      TableScan: x
//! ```
//!
//! - [`attach`], [`found`], [`scalar`]: where subqueries stand, and what stands there instead;
//! - [`lateral`]: LATERAL, which is the same without a place in an expression;
//! - [`domain`]: the distinct values, and joins by them; [`settled`]: values that are sure to be there again;
//! - [`push`]: the subquery for all of them, operator by operator ([`groups`], [`grouping_sets`], [`firsts`], [`pairs`]);
//! - [`outer`], [`renamed`]: which columns of the row around are named, also by subqueries in subqueries. These come to depend
//!   on the rows that have been made, and are then answered in the same way: outermost first.
//!
//! Equal outer rows share an answer and stay as many as they are; NULL is a value like any other. What DataFusion joins rightly is
//! left to it ([`subqueries`](crate::subqueries)): it needs no values but the subquery's own. What cannot be done is refused.

mod attach;
mod domain;
mod firsts;
mod found;
mod grouping_sets;
mod groups;
mod lateral;
mod names;
mod outer;
mod pairs;
mod push;
mod renamed;
mod scalar;
mod settled;

use std::fmt;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};

use self::names::Names;
use self::outer::is_lateral;
use crate::expressions::with_types_of_inputs;
use crate::subqueries::{is_left_to_datafusion, subquery_of};

/// The plan without subqueries that depend on their row, but for those that DataFusion joins.
pub fn unnest(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut unnester = Unnester { names: Names::default() };
    match is_dependent(&plan)? {
        true => unnester.plan(plan).data(),
        false => Ok(plan),
    }
}

/// Whether there is anything to do.
fn is_dependent(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::Subquery(_)) || node.contains_outer_reference();
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

struct Unnester {
    names: Names,
}

impl Unnester {
    /// Inputs first: what they are is copied for each subquery above.
    fn plan(&mut self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        // What is right of LATERAL has its turn when it has been joined.
        if matches!(plan, LogicalPlan::Subquery(_)) && !outer::of(&plan)?.is_empty() {
            return Ok(Transformed::no(plan));
        }
        let below = plan.map_children(|input| self.plan(input))?;
        let changed = below.transformed;
        let node = if changed { with_types_of_inputs(below.data)? } else { below.data };
        let inside = self.independent(node)?;
        let changed = changed || inside.transformed;
        let done = self.node(inside.data)?;
        Ok(Transformed::new_transformed(done.data, changed || done.transformed))
    }

    fn node(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match node {
            LogicalPlan::Join(join) if is_lateral(&join.right) => {
                let joined = self.lateral(join)?;
                match joined.data {
                    LogicalPlan::Join(join) => self.attached(LogicalPlan::Join(join)),
                    done => Ok(Transformed::yes(done)),
                }
            }
            other => self.attached(other),
        }
    }

    /// Subqueries that depend on nothing, or are left to DataFusion, may have others inside.
    fn independent(&mut self, node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        node.map_expressions(|expression| {
            expression.transform_up(|part| {
                let Some(subquery) = subquery_of(&part) else { return Ok(Transformed::no(part)) };
                if !outer::of(&subquery.subquery)?.is_empty() {
                    return Ok(Transformed::no(part));
                }
                let plan = self.plan(subquery.subquery.as_ref().clone())?;
                if !plan.transformed {
                    return Ok(Transformed::no(part));
                }
                let subquery = renamed::of_plan(subquery, plan.data)?;
                Ok(Transformed::yes(renamed::with_subquery(part, subquery)))
            })
        })
    }

    /// Whether a subquery of an operator is to be answered here, and can be by now: one that depends on a row further out has to
    /// wait until that has come in.
    fn is_ours(&self, node: &LogicalPlan, part: &Expr) -> Result<bool> {
        let Some(subquery) = subquery_of(part) else { return Ok(false) };
        let named = outer::of(&subquery.subquery)?;
        if named.is_empty() {
            return Ok(false);
        }
        for outer in &named {
            if !outer::gives(node, &outer.column)? {
                return Ok(false);
            }
        }
        Ok(!is_left_to_datafusion(node, part, subquery))
    }
}

/// A reason why a subquery cannot be answered: an error of its query.
#[derive(Debug)]
struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

fn refuse<T>(what: &str) -> Result<T> {
    let refusal = Refusal(format!("a subquery that depends on the row around it {what}"));
    Err(DataFusionError::External(Box::new(refusal)))
}

/// What a query is refused for, if that is what an error is.
pub fn refusal(error: &DataFusionError) -> Option<String> {
    match error.find_root() {
        DataFusionError::External(cause) => {
            cause.downcast_ref::<Refusal>().map(|refusal| refusal.0.clone())
        }
        _ => None,
    }
}
