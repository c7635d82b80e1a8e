//! Columns of the outer row, once they are columns of the plan: a subquery that depends on the row around it becomes a plan that has
//! that row as columns, whatever the subqueries inside of it.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Subquery};

use super::outer::{self, is_lateral};
use crate::expressions::rewrite_node;
use crate::subqueries::subquery_of;

/// What columns of the outer row are called now.
#[derive(Clone, Debug)]
pub struct Renamed(Vec<(Column, Column)>);

impl Renamed {
    pub fn new<'a>(from: impl Iterator<Item = &'a Column>, to: &[Column]) -> Self {
        Self(from.cloned().zip(to.iter().cloned()).collect())
    }

    /// In an expression of an operator that has them; its subqueries go on to depend on them.
    pub fn in_expression(&self, expression: Expr, node: &LogicalPlan) -> Result<Expr> {
        let inside = self.without(|column| has(node, column));
        expression
            .transform_up(|part| match part {
                Expr::OuterReferenceColumn(field, column) => Ok(match self.get(&column) {
                    Some(to) => Transformed::yes(Expr::Column(to.clone())),
                    None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
                }),
                other => inside.in_subquery(other),
            })
            .data()
    }

    /// In a plan that goes on to depend on them.
    pub fn in_plan(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        if self.0.is_empty() {
            return Ok(plan);
        }
        let plan = match plan {
            LogicalPlan::Join(join) if is_lateral(&join.right) => self.around_lateral(join)?,
            LogicalPlan::Subquery(subquery) => {
                let plan = self.in_plan(subquery.subquery.as_ref().clone())?;
                return Ok(LogicalPlan::Subquery(of_plan(&subquery, plan)?));
            }
            other => {
                other.map_children(|input| self.in_plan(input).map(Transformed::yes)).data()?
            }
        };
        let inside = self.without(|column| has(&plan, column));
        rewrite_node(plan, |part, _: &DFSchema| match part {
            Expr::OuterReferenceColumn(field, column) => Ok(match self.get(&column) {
                Some(to) => Transformed::yes(Expr::OuterReferenceColumn(field, to.clone())),
                None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
            }),
            other => inside.in_subquery(other),
        })
        .data()
    }

    fn around_lateral(&self, mut join: Join) -> Result<LogicalPlan> {
        let inside = self.without(|column| join.left.schema().has_column(column));
        join.left = self.in_plan(join.left.as_ref().clone())?.into();
        join.right = inside.in_plan(join.right.as_ref().clone())?.into();
        Ok(LogicalPlan::Join(join))
    }

    fn in_subquery(&self, part: Expr) -> Result<Transformed<Expr>> {
        match subquery_of(&part) {
            Some(subquery) if !self.0.is_empty() => {
                let plan = self.in_plan(subquery.subquery.as_ref().clone())?;
                let subquery = of_plan(subquery, plan)?;
                Ok(Transformed::yes(with_subquery(part, subquery)))
            }
            _ => Ok(Transformed::no(part)),
        }
    }

    fn get(&self, column: &Column) -> Option<&Column> {
        self.0.iter().find(|(from, _)| from == column).map(|(_, to)| to)
    }

    pub fn without(&self, is_hidden: impl Fn(&Column) -> bool) -> Self {
        Self(self.0.iter().filter(|(from, _)| !is_hidden(from)).cloned().collect())
    }
}

fn has(node: &LogicalPlan, column: &Column) -> bool {
    node.inputs().iter().any(|input| input.schema().has_column(column))
}

/// A subquery of another plan.
pub fn of_plan(subquery: &Subquery, plan: LogicalPlan) -> Result<Subquery> {
    let outer = outer::of(&plan)?.into_iter();
    let outer_ref_columns =
        outer.map(|outer| Expr::OuterReferenceColumn(outer.field, outer.column)).collect();
    Ok(Subquery { subquery: plan.into(), outer_ref_columns, spans: subquery.spans.clone() })
}

pub fn with_subquery(part: Expr, subquery: Subquery) -> Expr {
    match part {
        Expr::ScalarSubquery(_) => Expr::ScalarSubquery(subquery),
        Expr::Exists(exists) => Expr::Exists(Exists { subquery, ..exists }),
        Expr::InSubquery(is_in) => Expr::InSubquery(InSubquery { subquery, ..is_in }),
        Expr::SetComparison(compared) => {
            Expr::SetComparison(SetComparison { subquery, ..compared })
        }
        other => other,
    }
}
