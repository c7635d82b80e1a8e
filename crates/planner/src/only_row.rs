//! Pass: a scalar subquery has at most one row, or its query fails.
//!
//! ```text
//! x = (SELECT x FROM d)     ==>     x = (SELECT only_row(x) FROM d)
//! ```
//!
//! Scalar subqueries are planned as joins, which would multiply rows where SQL demands an error. An
//! aggregate that refuses a second row can be divided over fragments and shards like any other, and gives
//! NULL for none, as a scalar subquery does.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, UInt64Type};
use datafusion::common::exec_err;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, LogicalPlan, LogicalPlanBuilder, Signature,
    Subquery, Volatility,
};
use datafusion::scalar::ScalarValue;

use crate::dependencies;

pub fn enforce(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let rewritten = node.map_expressions(|expression| {
            expression.transform_up(|part| match part {
                Expr::ScalarSubquery(subquery) if may_have_more(&subquery) => {
                    Ok(Transformed::yes(Expr::ScalarSubquery(only_row_of(subquery)?)))
                }
                other => Ok(Transformed::no(other)),
            })
        })?;
        if rewritten.transformed {
            return rewritten.data.recompute_schema().map(Transformed::yes);
        }
        Ok(rewritten)
    })
    .data()
}

/// A correlated one has to be an aggregate: DataFusion sees to that.
fn may_have_more(subquery: &Subquery) -> bool {
    if !subquery.outer_ref_columns.is_empty() {
        return false;
    }
    // It may take a column for unique that is not.
    let plan = dependencies::everywhere(subquery.subquery.as_ref().clone());
    !plan.is_ok_and(|plan| plan.max_rows().is_some_and(|rows| rows <= 1))
}

fn only_row_of(subquery: Subquery) -> Result<Subquery> {
    let (qualifier, field) = subquery.subquery.schema().qualified_field(0);
    let column = Expr::Column((qualifier, field).into());
    let name = field.name().clone();
    let only = call(column);
    let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone())
        .aggregate(Vec::<Expr>::new(), vec![only.alias(name)])?
        .build()?;
    Ok(Subquery { subquery: Arc::new(plan), ..subquery })
}

/// `only_row(x)`.
pub fn call(value: Expr) -> Expr {
    AggregateUDF::new_from_impl(OnlyRow::new()).call(vec![value])
}

/// `only_row(x)`: the value of the only row, NULL if there is none.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyRow {
    signature: Signature,
}

impl OnlyRow {
    fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for OnlyRow {
    fn name(&self) -> &str {
        "only_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let value = Field::new("value", arguments.return_field.data_type().clone(), true);
        Ok(vec![Arc::new(value), Arc::new(Field::new("rows", DataType::UInt64, true))])
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let value = ScalarValue::try_from(arguments.return_field.data_type())?;
        Ok(Box::new(Seen { value, rows: 0 }))
    }
}

#[derive(Debug)]
struct Seen {
    value: ScalarValue,
    rows: u64,
}

impl Seen {
    fn see(&mut self, values: &ArrayRef, at: usize) -> Result<()> {
        self.rows += 1;
        if self.rows > 1 {
            return exec_err!("a scalar subquery gave more than one row");
        }
        self.value = ScalarValue::try_from_array(values, at)?;
        Ok(())
    }
}

impl Accumulator for Seen {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        (0..values[0].len()).try_for_each(|at| self.see(&values[0], at))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let rows = states[1].as_primitive::<UInt64Type>();
        let seen = (0..rows.len()).filter(|at| rows.is_valid(*at) && rows.value(*at) > 0);
        seen.into_iter().try_for_each(|at| self.see(&states[0], at))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.value.clone(), ScalarValue::UInt64(Some(self.rows))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.value.clone())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.value.size()
    }
}
