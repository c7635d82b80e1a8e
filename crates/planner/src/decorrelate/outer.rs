//! Columns of the row around it that a plan names: its free variables.

use arrow::datatypes::FieldRef;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::refuse;
use crate::subqueries::subquery_of;

/// A column of the row around a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outer {
    pub column: Column,
    pub field: FieldRef,
}

/// All that a plan names, each once. What a subquery inside of the plan names is left out if the plan has it.
pub fn of(plan: &LogicalPlan) -> Result<Vec<Outer>> {
    let mut found = vec![];
    collect(plan, &mut found)?;
    Ok(found)
}

/// Whether any of these is named.
pub fn names_one_of(plan: &LogicalPlan, columns: &[Outer]) -> Result<bool> {
    Ok(of(plan)?.iter().any(|outer| columns.iter().any(|known| known.column == outer.column)))
}

fn collect(plan: &LogicalPlan, found: &mut Vec<Outer>) -> Result<()> {
    match plan {
        LogicalPlan::Join(join) => {
            collect(&join.left, found)?;
            for outer in of(&join.right)? {
                if !join.left.schema().has_column(&outer.column) {
                    add(outer, found);
                } else if !is_lateral(&join.right) {
                    return refuse("names a table that is called as one beside it");
                }
            }
        }
        other => {
            for input in other.inputs() {
                collect(input, found)?;
            }
        }
    }
    for outer in of_expressions(plan)? {
        add(outer, found);
    }
    Ok(())
}

/// What the expressions of one operator name.
pub fn of_expressions(node: &LogicalPlan) -> Result<Vec<Outer>> {
    let mut found = vec![];
    node.apply_expressions(|expression| {
        expression.apply(|part| {
            if let Expr::OuterReferenceColumn(field, column) = part {
                add(Outer { column: column.clone(), field: field.clone() }, &mut found);
            }
            if let Some(subquery) = subquery_of(part) {
                for outer in of(&subquery.subquery)? {
                    if !gives(node, &outer.column)? {
                        add(outer, &mut found);
                    }
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

fn add(outer: Outer, found: &mut Vec<Outer>) {
    if !found.iter().any(|known| known.column == outer.column) {
        found.push(outer);
    }
}

/// Whether a subquery in an operator finds a column there. One that the query around it has had, and groups away, is not to be
/// taken for one of that name further out.
pub fn gives(node: &LogicalPlan, column: &Column) -> Result<bool> {
    let inputs = node.inputs();
    if inputs.iter().any(|input| input.schema().has_column(column)) {
        return Ok(true);
    }
    if inputs.iter().any(|input| had(input, column)) {
        return refuse("names a column that the query around it groups away");
    }
    Ok(false)
}

fn had(plan: &LogicalPlan, column: &Column) -> bool {
    let is_scope = matches!(plan, LogicalPlan::SubqueryAlias(_) | LogicalPlan::TableScan(_));
    plan.schema().has_column(column)
        || !is_scope && plan.inputs().iter().any(|input| had(input, column))
}

/// Whether a plan stands right of LATERAL.
pub fn is_lateral(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Subquery(_) => true,
        LogicalPlan::SubqueryAlias(alias) => is_lateral(&alias.input),
        _ => false,
    }
}
