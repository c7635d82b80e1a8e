//! One sum, of all rows or of a window that moves over them.

use std::marker::PhantomData;

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, AsArray, PrimitiveArray};
use arrow::datatypes::{DataType, DecimalType, UInt64Type};
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;

use super::averages::averages;
use super::overflow;
use super::wide::{Widens, finish};

/// Result that a sum becomes at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Sum(DataType),
    /// The sum by the number of values.
    Average(DataType),
}

pub struct Running<T, W: DecimalType> {
    sum: W::Native,
    /// Number of values in it.
    count: u64,
    state_type: DataType,
    ending: Ending,
    values: PhantomData<fn(T)>,
}

impl<T, W: DecimalType> Running<T, W> {
    pub fn new(state_type: DataType, ending: Ending) -> Self {
        let sum = W::Native::default();
        Self { sum, count: 0, state_type, ending, values: PhantomData }
    }

    pub fn add(&mut self, value: W::Native) -> Result<()> {
        self.sum = self.sum.add_checked(value).map_err(|_| self.does_not_fit())?;
        self.count += 1;
        Ok(())
    }

    pub fn take_away(&mut self, value: W::Native) -> Result<()> {
        self.sum = self.sum.sub_checked(value).map_err(|_| self.does_not_fit())?;
        self.count -= 1;
        Ok(())
    }

    fn does_not_fit(&self) -> arrow::error::ArrowError {
        overflow(format!("a sum does not fit into {}", self.state_type))
    }

    fn wide(&self) -> PrimitiveArray<W> {
        let sum = (self.count > 0).then_some(self.sum);
        PrimitiveArray::<W>::from_iter([sum]).with_data_type(self.state_type.clone())
    }

    pub fn end(&self) -> Result<ScalarValue> {
        match &self.ending {
            Ending::Sum(result_type) => {
                ScalarValue::try_from_array(&finish(&self.wide(), result_type)?, 0)
            }
            Ending::Average(result_type) => {
                let averages = averages(&self.wide(), &[self.count], result_type)?;
                ScalarValue::try_from_array(&averages, 0)
            }
        }
    }
}

impl<T, W: DecimalType> std::fmt::Debug for Running<T, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Running({:?} of {}, {:?})", self.sum, self.count, self.ending)
    }
}

impl<T: Widens<W>, W: DecimalType> Accumulator for Running<T, W> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<T>();
        if values.null_count() > 0 {
            return values.iter().flatten().try_for_each(|value| self.add(T::widen(value)));
        }
        values.values().iter().try_for_each(|value| self.add(T::widen(*value)))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<T>();
        values.iter().flatten().try_for_each(|value| self.take_away(T::widen(value)))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let sums = states[0].as_primitive::<W>();
        let counts = states.get(1).map(|counts| counts.as_primitive::<UInt64Type>());
        for at in (0..sums.len()).filter(|at| sums.is_valid(*at)) {
            self.add(sums.value(at))?;
            // It has counted the state as one value.
            self.count += counts.map_or(1, |counts| counts.value(at)) - 1;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = vec![ScalarValue::try_from_array(&self.wide(), 0)?];
        if let Ending::Average(_) = self.ending {
            state.push(ScalarValue::UInt64(Some(self.count)));
        }
        Ok(state)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.end()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
