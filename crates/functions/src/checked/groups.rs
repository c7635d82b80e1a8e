//! The sums and the averages of many groups at once.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, AsArray, BooleanArray, PrimitiveArray, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, DecimalType, UInt64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::accumulate::NullState;
use datafusion_functions_aggregate_common::aggregate::groups_accumulator::nulls::filter_to_nulls;

use super::averages::averages;
use super::overflow;
use super::wide::{Widens, finish};

pub struct SumGroups<T, W: DecimalType> {
    sums: Vec<W::Native>,
    seen: NullState,
    /// Even the wide type was not wide enough.
    has_overflowed: bool,
    state_type: DataType,
    result_type: DataType,
    values: PhantomData<fn(T)>,
}

impl<T, W: DecimalType> SumGroups<T, W> {
    pub fn new(state_type: DataType, result_type: DataType) -> Self {
        Self {
            sums: vec![],
            seen: NullState::new(),
            has_overflowed: false,
            state_type,
            result_type,
            values: PhantomData,
        }
    }

    fn add<V: Widens<W> + Send>(
        &mut self,
        values: &PrimitiveArray<V>,
        groups: &[usize],
        filter: Option<&BooleanArray>,
        groups_count: usize,
    ) {
        self.sums.resize(groups_count, W::Native::default());
        let (sums, has_overflowed) = (&mut self.sums, &mut self.has_overflowed);
        self.seen.accumulate(groups, values, filter, groups_count, |group, value| {
            match sums[group].add_checked(V::widen(value)) {
                Ok(sum) => sums[group] = sum,
                Err(_) => *has_overflowed = true,
            }
        });
    }

    pub fn emit(&mut self, emit_to: EmitTo) -> Result<PrimitiveArray<W>> {
        if self.has_overflowed {
            return Err(overflow(format!("a sum does not fit into {}", self.state_type)).into());
        }
        let sums = emit_to.take_needed(&mut self.sums);
        let seen = self.seen.build(emit_to);
        Ok(PrimitiveArray::<W>::new(sums.into(), seen).with_data_type(self.state_type.clone()))
    }
}

impl<T: Widens<W> + Send, W: DecimalType + Widens<W> + Send> GroupsAccumulator for SumGroups<T, W> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        groups_count: usize,
    ) -> Result<()> {
        self.add(values[0].as_primitive::<T>(), groups, filter, groups_count);
        Ok(())
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        groups: &[usize],
        groups_count: usize,
    ) -> Result<()> {
        self.add(states[0].as_primitive::<W>(), groups, None, groups_count);
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        finish(&self.emit(emit_to)?, &self.result_type)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(self.emit(emit_to)?)])
    }

    /// Each row as the sum of itself alone.
    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<T>();
        let wide: PrimitiveArray<W> = values.unary(T::widen);
        let passing = filter.map(filter_to_nulls);
        let valid = NullBuffer::union(wide.nulls(), passing.as_ref());
        let sums = PrimitiveArray::<W>::new(wide.values().clone(), valid);
        Ok(vec![Arc::new(sums.with_data_type(self.state_type.clone()))])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<W::Native>() + self.seen.size()
    }
}

/// The averages of what is exact.
pub struct AverageGroups<T, W: DecimalType> {
    sums: SumGroups<T, W>,
    counts: Vec<u64>,
}

impl<T, W: DecimalType> AverageGroups<T, W> {
    pub fn new(wide: DataType, result_type: DataType) -> Self {
        Self { sums: SumGroups::new(wide, result_type), counts: vec![] }
    }
}

impl<T, W> GroupsAccumulator for AverageGroups<T, W>
where
    T: Widens<W> + Send,
    W: DecimalType + Widens<W> + Send,
{
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        groups_count: usize,
    ) -> Result<()> {
        self.counts.resize(groups_count, 0);
        let is_counted = |row: usize| {
            values[0].is_valid(row)
                && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
        };
        if values[0].null_count() == 0 && filter.is_none() {
            groups.iter().for_each(|group| self.counts[*group] += 1);
        } else {
            for (row, group) in groups.iter().enumerate() {
                self.counts[*group] += u64::from(is_counted(row));
            }
        }
        self.sums.update_batch(values, groups, filter, groups_count)
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        groups: &[usize],
        groups_count: usize,
    ) -> Result<()> {
        self.counts.resize(groups_count, 0);
        let counts = states[1].as_primitive::<UInt64Type>();
        for (group, count) in groups.iter().zip(counts.values()) {
            self.counts[*group] += count;
        }
        self.sums.merge_batch(states, groups, groups_count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let counts = emit_to.take_needed(&mut self.counts);
        averages(&self.sums.emit(emit_to)?, &counts, &self.sums.result_type)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let counts = emit_to.take_needed(&mut self.counts);
        let mut state = self.sums.state(emit_to)?;
        state.push(Arc::new(UInt64Array::from(counts)));
        Ok(state)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let mut state = self.sums.convert_to_state(values, filter)?;
        let counts = (0..state[0].len()).map(|row| u64::from(state[0].is_valid(row)));
        state.push(Arc::new(UInt64Array::from_iter_values(counts)));
        Ok(state)
    }

    fn size(&self) -> usize {
        self.sums.size() + self.counts.capacity() * size_of::<u64>()
    }
}
