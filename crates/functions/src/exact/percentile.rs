//! `percentile_cont`: interpolated with all the digits there are.
//!
//! DataFusion's rounds the weight of the interpolation down to six digits, and reads only the first of
//! several states that it is given at once. Its states are kept, and interpolated here.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, ListArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::Result;
use datafusion::functions_aggregate::percentile_cont::percentile_cont_udaf;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, EmitTo, GroupsAccumulator,
};
use datafusion::scalar::ScalarValue;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PercentileCont {
    inner: AggregateUDF,
}

impl PercentileCont {
    pub fn new() -> Self {
        Self { inner: percentile_cont_udaf().as_ref().clone() }
    }
}

impl AggregateUDFImpl for PercentileCont {
    inherit!(name, aliases, signature, return_type, state_fields, groups_accumulator_supported);

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if arguments.expr_fields[0].data_type().is_null() {
            return self.inner.accumulator(arguments);
        }
        let (at, distinct) = (place(&arguments)?, arguments.is_distinct);
        Ok(Box::new(Values { inner: self.inner.accumulator(arguments)?, at, distinct }))
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let at = place(&arguments)?;
        Ok(Box::new(Groups { inner: self.inner.create_groups_accumulator(arguments)?, at }))
    }

    fn supports_within_group_clause(&self) -> bool {
        true
    }
}

/// The percentile that is asked for, counted from the least value.
fn place(arguments: &AccumulatorArgs<'_>) -> Result<f64> {
    let batch = arrow::array::RecordBatch::new_empty(Arc::new(arrow::datatypes::Schema::empty()));
    let value = match arguments.exprs[1].evaluate(&batch)? {
        ColumnarValue::Scalar(value) => value,
        ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0)?,
    };
    let ScalarValue::Float64(Some(value)) = value.cast_to(&DataType::Float64)? else {
        return datafusion::common::plan_err!("the percentile of percentile_cont is NULL");
    };
    let descending = arguments.order_bys.first().is_some_and(|order| order.options.descending);
    Ok(if descending { 1.0 - value } else { value })
}

/// The value at a place of all values, `at` from 0 to 1; NaN is the greatest.
pub fn interpolated(values: &mut [f64], at: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "there are fewer values than 2^53")]
    let place = at * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most last")]
    let below = (place.floor() as usize).min(last);
    let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
    let (_, low, above) = values.select_nth_unstable_by(below, order);
    let (low, weight) = (*low, place - place.floor());
    if weight == 0.0 {
        return Some(low);
    }
    let high = above.iter().copied().min_by(order)?;
    // The difference of equal infinities is no number.
    Some(if low == high { low } else { low + (high - low) * weight })
}

fn interpolated_list(list: &ListArray, at: f64, kind: &DataType) -> Result<ArrayRef> {
    let percentiles: Float64Array = (0..list.len())
        .map(|row| {
            let values = cast(&list.value(row), &DataType::Float64)?;
            let values = values.as_primitive::<Float64Type>();
            let mut values: Vec<f64> = values.iter().flatten().collect();
            Ok(interpolated(&mut values, at))
        })
        .collect::<Result<Vec<_>>>()?
        .into();
    Ok(cast(&percentiles, kind)?)
}

#[derive(Debug)]
struct Values {
    inner: Box<dyn Accumulator>,
    at: f64,
    distinct: bool,
}

impl Accumulator for Values {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        // One by one: the inner one reads only the first.
        (0..states[0].len()).try_for_each(|row| self.inner.merge_batch(&[states[0].slice(row, 1)]))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let state = self.inner.state()?[0].to_array()?;
        // A window goes on after it was asked; only distinct values survive being told.
        if !self.distinct {
            self.inner.merge_batch(&[Arc::clone(&state)])?;
        }
        let list = state.as_list::<i32>();
        ScalarValue::try_from_array(&interpolated_list(list, self.at, &list.value_type())?, 0)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}

struct Groups {
    inner: Box<dyn GroupsAccumulator>,
    at: f64,
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.inner.update_batch(values, groups, filter, count)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.inner.merge_batch(states, groups, count)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let states = self.inner.state(emit)?;
        let list = states[0].as_list::<i32>();
        interpolated_list(list, self.at, &list.value_type())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        // The inner one insists on one argument, and would be given the percentile too.
        self.inner.convert_to_state(&values[..1], filter)
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}
