//! `avg`: DataFusion's, but for integers, which it would add up as floats: near the ends of 64 bits the order of
//! the rows would then decide what is left of the small ones.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt64Array};
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, UInt64Type};
use datafusion::common::types::{NativeType, logical_float64, logical_int64, logical_uint64};
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, EmitTo, GroupsAccumulator, ReversedUDAF,
    Signature, TypeSignature, TypeSignatureClass, Volatility,
};
use datafusion::scalar::ScalarValue;
use datafusion_functions_aggregate_common::noop_accumulator::NoopAccumulator;

use super::groups::SumGroups;
use super::running::{Ending, averages};
use super::sum::one;
use super::wide::{Widens, wide_type, with_wide_type};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Average {
    datafusions: Arc<AggregateUDF>,
    signature: Signature,
}

impl Default for Average {
    fn default() -> Self {
        use TypeSignatureClass::{Decimal, Duration, Float, Integer, Native};
        let one = |coercion| TypeSignature::Coercible(vec![coercion]);
        let exact = |class| one(Coercion::new_exact(class));
        let implicit = |to, from, native| one(Coercion::new_implicit(Native(to), from, native));
        let signatures = vec![
            exact(Decimal),
            exact(Duration),
            exact(Native(logical_uint64())),
            implicit(logical_int64(), vec![Integer], NativeType::Int64),
            implicit(logical_float64(), vec![Float], NativeType::Float64),
        ];
        let signature = Signature::one_of(signatures, Volatility::Immutable);
        Self { datafusions: avg_udaf(), signature }
    }
}

/// The wide type of the sum of integers; none for what DataFusion averages well.
fn wide_of_integers(values: &DataType) -> Option<DataType> {
    wide_type(values).filter(|_| values.is_integer())
}

impl AggregateUDFImpl for Average {
    fn name(&self) -> &str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        self.datafusions.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Null] => Ok(DataType::Float64),
            _ => self.datafusions.return_type(arguments),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let values = args.input_fields[0].data_type();
        match wide_of_integers(values) {
            None if values.is_null() => {
                let name = format_state_name(args.name, "nothing");
                Ok(vec![Arc::new(Field::new(name, DataType::Null, true))])
            }
            None => self.datafusions.state_fields(args),
            Some(_) if args.is_distinct => {
                let item = Field::new_list_field(values.clone(), true);
                let name = format_state_name(args.name, "avg distinct");
                Ok(vec![Arc::new(Field::new_list(name, item, false))])
            }
            Some(wide) => Ok(vec![
                Arc::new(Field::new(format_state_name(args.name, "sum"), wide, true)),
                Arc::new(Field::new(format_state_name(args.name, "count"), DataType::UInt64, true)),
            ]),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let values = args.expr_fields[0].data_type();
        match wide_of_integers(values) {
            None if values.is_null() => {
                Ok(Box::new(NoopAccumulator::new(ScalarValue::Float64(None))))
            }
            None => self.datafusions.accumulator(args),
            Some(wide) => {
                with_wide_type!(values, one(values, wide, Ending::Average, args.is_distinct))
            }
        }
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let values = args.expr_fields[0].data_type();
        match wide_of_integers(values) {
            None if !values.is_null() => self.datafusions.create_sliding_accumulator(args),
            _ => self.accumulator(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.expr_fields[0].data_type().is_null()
            && self.datafusions.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        use arrow::datatypes::Int64Type;
        let values = args.expr_fields[0].data_type();
        match (wide_of_integers(values), values) {
            (None, _) => self.datafusions.create_groups_accumulator(args),
            (Some(wide), DataType::UInt64) => Ok(Box::new(AverageGroups::<UInt64Type>::new(wide))),
            (Some(wide), _) => Ok(Box::new(AverageGroups::<Int64Type>::new(wide))),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// The averages of many groups at once.
struct AverageGroups<T> {
    sums: SumGroups<T, Decimal128Type>,
    counts: Vec<u64>,
}

impl<T> AverageGroups<T> {
    fn new(wide: DataType) -> Self {
        Self { sums: SumGroups::new(wide, DataType::Float64), counts: vec![] }
    }
}

impl<T: Widens<Decimal128Type> + Send> GroupsAccumulator for AverageGroups<T> {
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
        Ok(Arc::new(averages(&self.sums.emit(emit_to)?, &counts)?))
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
