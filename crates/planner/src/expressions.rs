//! Rewriting the expressions of a whole plan: each part knows the columns that it is about, and whatever becomes of an
//! expression, its column is called as before.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, GroupingSet, LogicalPlan, Union};

/// Every part of every expression, from the inside out, in subqueries too.
pub fn rewrite(
    plan: LogicalPlan,
    mut part: impl FnMut(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| rewrite_node(node, &mut part)).data()
}

/// The same for a part that may become one of another type: whatever is above it knows.
pub fn rewrite_types(
    plan: LogicalPlan,
    mut part: impl FnMut(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    let mut any_changed = false;
    plan.transform_up_with_subqueries(|node| {
        let node = if any_changed { with_types_of_inputs(node)? } else { node };
        let rewritten = rewrite_node(node, &mut part)?;
        any_changed |= rewritten.transformed;
        Ok(rewritten)
    })
    .data()
}

/// A node whose inputs may have got other types.
pub fn with_types_of_inputs(node: LogicalPlan) -> Result<LogicalPlan> {
    match node {
        LogicalPlan::Union(union) => {
            Union::try_new_with_loose_types(union.inputs).map(LogicalPlan::Union)
        }
        other => other.recompute_schema(),
    }
}

/// The same for whole expressions of one node, not their parts.
pub fn rewrite_roots(
    node: LogicalPlan,
    mut root: impl FnMut(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let schema = columns_of(&node)?;
    let names = NamePreserver::new(&node);
    let mut named = |expression: Expr| {
        let name = names.save(&expression);
        let rewritten = root(expression, &schema)?;
        Ok(rewritten.update_data(|expression| name.restore(expression)))
    };
    let rewritten = node.map_expressions(|expression| match expression {
        Expr::GroupingSet(set) => map_grouping_set(set, &mut named),
        other => named(other),
    })?;
    match rewritten.transformed {
        true => rewritten.data.recompute_schema().map(Transformed::yes),
        false => Ok(rewritten),
    }
}

/// The same for the expressions of one node.
pub fn rewrite_node(
    node: LogicalPlan,
    mut part: impl FnMut(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    rewrite_roots(node, |root, schema| root.transform_up(|inner| part(inner, schema)))
}

/// Columns that the expressions of a node can refer to.
fn columns_of(node: &LogicalPlan) -> Result<DFSchema> {
    match node {
        // A scan has no input: filters that it has taken over are on columns of its own.
        LogicalPlan::TableScan(scan) => {
            DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())
        }
        other => Ok(merge_schema(&other.inputs())),
    }
}

/// Each key of grouping sets has a name; the sets have none.
fn map_grouping_set(
    set: GroupingSet,
    named: &mut impl FnMut(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<Expr>> {
    let mut changed = false;
    let mut keys = |keys: Vec<Expr>| {
        let keys = keys.into_iter().map(|key| {
            let key = named(key)?;
            changed |= key.transformed;
            Ok(key.data)
        });
        keys.collect::<Result<Vec<_>>>()
    };
    let set = match set {
        GroupingSet::Rollup(list) => GroupingSet::Rollup(keys(list)?),
        GroupingSet::Cube(list) => GroupingSet::Cube(keys(list)?),
        GroupingSet::GroupingSets(lists) => {
            GroupingSet::GroupingSets(lists.into_iter().map(&mut keys).collect::<Result<Vec<_>>>()?)
        }
    };
    Ok(Transformed::new_transformed(Expr::GroupingSet(set), changed))
}

/// Functions all of whose arguments DataFusion makes one type.
pub fn makes_alike(function: &str) -> bool {
    ["coalesce", "greatest", "ifnull", "least", "make_array", "nullif", "nvl", "nvl2"]
        .contains(&function)
}
