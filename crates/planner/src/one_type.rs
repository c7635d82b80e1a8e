//! Pass: what becomes a float because another side of its UNION, or another branch of its CASE, is one is a float from the start.
//!
//! ```text
//! Union                             Union
//!   Projection: 1 AS x       ==>      Projection: CAST(x AS DOUBLE) AS x
//!   Projection: t.f AS x                Projection: 1 AS x
//!                                     Projection: t.f AS x
//!
//! CASE WHEN a THEN 1 ELSE t.f END   ==>   CASE WHEN a THEN CAST(1 AS DOUBLE) ELSE t.f END
//! ```
//!
//! DataFusion makes types equal after our passes, and says until then that such a column has the type of the first side. Passes that
//! ask whether something is a float (so that `-0.0` is `0.0`) were told that it is an integer. Decimals among them are made floats as well,
//! as they are [beside floats](crate::decimals).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Union, cast};

use crate::expressions::{rewrite_node, with_types_of_inputs};

pub fn settle(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut any_changed = false;
    plan.transform_up_with_subqueries(|node| {
        let node = if any_changed { with_types_of_inputs(node)? } else { node };
        let settled = match node {
            LogicalPlan::Union(union) => sides(union)?,
            other => rewrite_node(other, branches)?,
        };
        any_changed |= settled.transformed;
        Ok(settled)
    })
    .data()
}

fn sides(union: Union) -> Result<Transformed<LogicalPlan>> {
    let of_column = |at: usize| {
        let schemas = union.inputs.iter().map(|input| input.schema());
        common_float(schemas.filter_map(move |schema| Some(schema.fields().get(at)?.data_type())))
    };
    let floats: Vec<_> = (0..union.schema.fields().len()).map(of_column).collect();
    if floats.iter().all(Option::is_none) {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let inputs = union.inputs.into_iter().map(|input| side(input, &floats));
    let union = Union::try_new_with_loose_types(inputs.collect::<Result<_>>()?)?;
    Ok(Transformed::yes(LogicalPlan::Union(union)))
}

fn side(input: Arc<LogicalPlan>, floats: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    let columns = input.schema().iter().zip(floats).map(|((qualifier, field), float)| {
        let column = Expr::Column(Column::from((qualifier, field)));
        match float {
            Some(float) if float != field.data_type() => {
                cast(column, float.clone()).alias_qualified(qualifier.cloned(), field.name())
            }
            _ => column,
        }
    });
    let columns: Vec<_> = columns.collect();
    LogicalPlanBuilder::from(input.as_ref().clone()).project(columns)?.build().map(Arc::new)
}

fn branches(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::Case(case) = part else { return Ok(Transformed::no(part)) };
    let thens = case.when_then_expr.iter().map(|(_, then)| then);
    let kinds = thens.chain(&case.else_expr).map(|value| value.get_type(schema));
    let Ok(kinds) = kinds.collect::<Result<Vec<_>>>() else {
        return Ok(Transformed::no(Expr::Case(case)));
    };
    let Some(float) = common_float(kinds.iter()) else {
        return Ok(Transformed::no(Expr::Case(case)));
    };
    let made = |value: Box<Expr>| match value.get_type(schema) {
        Ok(kind) if kind != float => Box::new(cast(*value, float.clone())),
        _ => value,
    };
    let Case { expr, when_then_expr, else_expr } = case;
    let cases = when_then_expr.into_iter().map(|(when, then)| (when, made(then)));
    let case = Case { expr, when_then_expr: cases.collect(), else_expr: else_expr.map(made) };
    Ok(Transformed::yes(Expr::Case(case)))
}

/// The float that all become, if there is a float among them, other numbers or NULLs as well, and nothing else.
fn common_float<'a>(kinds: impl Iterator<Item = &'a DataType>) -> Option<DataType> {
    let kinds: Vec<_> = kinds.collect();
    let is_one = |kind: &&DataType| kind.is_numeric() || kind.is_null();
    let float = kinds.iter().find(|kind| kind.is_floating())?;
    let others = kinds.iter().any(|kind| kind != float);
    if !others || !kinds.iter().all(is_one) {
        return None;
    }
    let is_alone = kinds.iter().all(|kind| kind == float || kind.is_null());
    Some(if is_alone { (*float).clone() } else { DataType::Float64 })
}
