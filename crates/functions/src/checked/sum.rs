//! `sum`: DataFusion's, but for integers and decimals, whose sums do not wrap.

use std::hash::Hash;
use std::sync::Arc;

use arrow::datatypes::{ArrowPrimitiveType, DataType, DecimalType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    Signature,
};
use datafusion::scalar::ScalarValue;
use datafusion_functions_aggregate_common::noop_accumulator::NoopAccumulator;

use super::distinct::Distinct;
use super::groups::SumGroups;
use super::running::{Ending, Running};
use super::wide::{Widens, wide_type, with_wide_type};

/// Types are as in DataFusion's: 64 bits for integers, ten more digits for decimals.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Sum {
    datafusions: Arc<AggregateUDF>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { datafusions: sum_udaf() }
    }
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        self.datafusions.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Null] => Ok(DataType::Int64),
            _ => self.datafusions.return_type(arguments),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let values = args.input_fields[0].data_type();
        match wide_type(values) {
            None if values.is_null() => {
                let name = format_state_name(args.name, "nothing");
                Ok(vec![Arc::new(Field::new(name, DataType::Null, true))])
            }
            None => self.datafusions.state_fields(args),
            Some(_) if args.is_distinct => {
                let item = Field::new_list_field(values.clone(), true);
                let name = format_state_name(args.name, "sum distinct");
                Ok(vec![Arc::new(Field::new_list(name, item, false))])
            }
            Some(wide) => {
                Ok(vec![Arc::new(Field::new(format_state_name(args.name, "sum"), wide, true))])
            }
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let values = args.expr_fields[0].data_type();
        match wide_type(values) {
            None if values.is_null() => {
                Ok(Box::new(NoopAccumulator::new(ScalarValue::Int64(None))))
            }
            None => self.datafusions.accumulator(args),
            Some(wide) => {
                let ending = Ending::Sum(args.return_field.data_type().clone());
                with_wide_type!(values, one(values, wide, ending, args.is_distinct))
            }
        }
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let values = args.expr_fields[0].data_type();
        match wide_type(values) {
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
        let values = args.expr_fields[0].data_type();
        match wide_type(values) {
            None => self.datafusions.create_groups_accumulator(args),
            Some(wide) => {
                with_wide_type!(values, many(wide, args.return_field.data_type().clone()))
            }
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.datafusions.inner().set_monotonicity(data_type)
    }
}

pub fn one<T, W>(
    values: &DataType,
    wide: DataType,
    ending: Ending,
    is_distinct: bool,
) -> Result<Box<dyn Accumulator>>
where
    T: Widens<W> + Send,
    T::Native: Hash + Eq,
    W: DecimalType + Send,
{
    Ok(match is_distinct {
        true => Box::new(Distinct::<T, W>::new(values.clone(), wide, ending)),
        false => Box::new(Running::<T, W>::new(wide, ending)),
    })
}

fn many<T, W>(wide: DataType, result: DataType) -> Result<Box<dyn GroupsAccumulator>>
where
    T: Widens<W> + Send,
    W: DecimalType + ArrowPrimitiveType + Widens<W> + Send,
{
    Ok(Box::new(SumGroups::<T, W>::new(wide, result)))
}
