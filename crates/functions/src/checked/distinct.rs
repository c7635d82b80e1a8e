//! `sum(DISTINCT x)`: each value once, however often it comes, goes and comes again.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{DataType, DecimalType};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use hashbrown::HashMap;

use super::running::{Ending, Running};
use super::wide::Widens;

pub struct Distinct<T: Widens<W>, W: DecimalType> {
    /// Number of times that each value is there.
    times: HashMap<T::Native, u64>,
    sum: Running<T, W>,
    value_type: DataType,
}

impl<T: Widens<W>, W: DecimalType> Distinct<T, W>
where
    T::Native: Hash + Eq,
{
    pub fn new(value_type: DataType, wide_type: DataType, ending: Ending) -> Self {
        Self { times: HashMap::new(), sum: Running::new(wide_type, ending), value_type }
    }

    fn add(&mut self, values: &PrimitiveArray<T>) -> Result<()> {
        for value in values.iter().flatten() {
            let times = self.times.entry(value).or_insert(0);
            *times += 1;
            if *times == 1 {
                self.sum.add(T::widen(value))?;
            }
        }
        Ok(())
    }
}

impl<T: Widens<W>, W: DecimalType> fmt::Debug for Distinct<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Distinct({} values, {:?})", self.times.len(), self.sum)
    }
}

impl<T: Widens<W>, W: DecimalType> Accumulator for Distinct<T, W>
where
    T::Native: Hash + Eq,
{
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values[0].as_primitive::<T>())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<T>().iter().flatten() {
            let Some(times) = self.times.get_mut(&value) else { continue };
            *times -= 1;
            if *times == 0 {
                self.times.remove(&value);
                self.sum.take_away(T::widen(value))?;
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states[0].as_list::<i32>();
        lists.iter().flatten().try_for_each(|values| self.add(values.as_primitive::<T>()))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = PrimitiveArray::<T>::from_iter_values(self.times.keys().copied());
        let values = Arc::new(values.with_data_type(self.value_type.clone()));
        Ok(vec![SingleRowListArrayBuilder::new(values).build_list_scalar()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.sum.end()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.times.capacity() * size_of::<(T::Native, u64)>()
    }
}
