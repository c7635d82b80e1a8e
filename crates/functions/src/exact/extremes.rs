//! `min` and `max` of floats: NaN is the greatest, as in PostgreSQL and DuckDB, and infinities are numbers.
//!
//! DataFusion's grouped ones start from the largest finite number, so that the maximum of nothing but
//! `-inf` is `-1.797e308`, and their result depends on the order of rows where there is a NaN. Of any other
//! type they are DataFusion's.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::Result;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    StatisticsArgs,
};
use datafusion::scalar::ScalarValue;
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::prim_op::PrimitiveGroupsAccumulator;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Extreme {
    inner: AggregateUDF,
    greatest: bool,
}

impl Extreme {
    pub fn min() -> Self {
        Self { inner: min_udaf().as_ref().clone(), greatest: false }
    }

    pub fn max() -> Self {
        Self { inner: max_udaf().as_ref().clone(), greatest: true }
    }
}

impl AggregateUDFImpl for Extreme {
    inherit!(name, signature, return_type, groups_accumulator_supported);

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match arguments.return_field.data_type() {
            DataType::Float32 | DataType::Float64 => Ok(Box::new(ExtremeFloat {
                kind: arguments.return_field.data_type().clone(),
                greatest: self.greatest,
                value: None,
            })),
            _ => self.inner.accumulator(arguments),
        }
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        // Whatever comes first is beyond the start: nothing is less than -inf, or greater than NaN.
        macro_rules! floats {
            ($kind:ty, $native:ident) => {{
                let kind = arguments.return_field.data_type();
                if self.greatest {
                    let take = |is: &mut $native, new: $native| {
                        if new > *is || new.is_nan() {
                            *is = new;
                        }
                    };
                    let start = $native::NEG_INFINITY;
                    let groups = PrimitiveGroupsAccumulator::<$kind, _>::new(kind, take);
                    Ok(Box::new(groups.with_starting_value(start)))
                } else {
                    let take = |is: &mut $native, new: $native| {
                        if new < *is || is.is_nan() {
                            *is = new;
                        }
                    };
                    let groups = PrimitiveGroupsAccumulator::<$kind, _>::new(kind, take);
                    Ok(Box::new(groups.with_starting_value($native::NAN)))
                }
            }};
        }
        match arguments.return_field.data_type() {
            DataType::Float32 => floats!(Float32Type, f32),
            DataType::Float64 => floats!(Float64Type, f64),
            _ => self.inner.create_groups_accumulator(arguments),
        }
    }

    fn create_sliding_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.inner.inner().create_sliding_accumulator(arguments)
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner.value_from_stats(statistics)
    }

    fn set_monotonicity(&self, kind: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(kind)
    }
}

/// The extreme of all rows, as a 64-bit float whatever they are: each 32-bit one is one.
#[derive(Debug)]
struct ExtremeFloat {
    kind: DataType,
    greatest: bool,
    value: Option<f64>,
}

impl ExtremeFloat {
    fn see(&mut self, new: f64) {
        let better = |is: f64| match self.greatest {
            true => new > is || new.is_nan(),
            false => new < is || is.is_nan(),
        };
        if self.value.is_none_or(better) {
            self.value = Some(new);
        }
    }
}

impl Accumulator for ExtremeFloat {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        match self.kind {
            DataType::Float32 => {
                let values = values[0].as_primitive::<Float32Type>().iter();
                values.flatten().for_each(|value| self.see(value.into()));
            }
            _ => {
                let values = values[0].as_primitive::<Float64Type>().iter();
                values.flatten().for_each(|value| self.see(value));
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(match self.kind {
            #[expect(clippy::cast_possible_truncation, reason = "it came from a 32-bit float")]
            DataType::Float32 => ScalarValue::Float32(self.value.map(|value| value as f32)),
            _ => ScalarValue::Float64(self.value),
        })
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
