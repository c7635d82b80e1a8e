//! `sum` and `avg`: DataFusion's, but for the sums of integers and decimals, which do not wrap.
//!
//! It would average integers as floats: near the ends of 64 bits the order of the rows would then decide what is left of the
//! small ones. Here they are added up exactly, and divided at the end. The average of decimals, and of differences of times, it would
//! cut off: here it is rounded.

use std::hash::Hash;
use std::sync::Arc;

use arrow::datatypes::{ArrowPrimitiveType, DataType, DecimalType, Field, FieldRef};
use datafusion::common::types::{NativeType, logical_float64, logical_int64, logical_uint64};
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, TypeSignature, TypeSignatureClass, Volatility,
};
use datafusion::scalar::ScalarValue;
use datafusion_functions_aggregate_common::noop_accumulator::NoopAccumulator;

use super::distinct::Distinct;
use super::groups::{AverageGroups, SumGroups};
use super::running::{Ending, Running};
use super::wide::{Widens, wide_type, with_wide_type};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Types are as in DataFusion's: 64 bits for integers, ten more digits for decimals.
    Sum,
    Average,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Total {
    kind: Kind,
    datafusions: Arc<AggregateUDF>,
    signature: Signature,
}

impl Total {
    pub fn sum() -> Self {
        let datafusions = sum_udaf();
        let signature = datafusions.signature().clone();
        Self { kind: Kind::Sum, datafusions, signature }
    }

    /// Of integers, too, as they are.
    pub fn average() -> Self {
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
        Self { kind: Kind::Average, datafusions: avg_udaf(), signature }
    }

    /// The type of what NULLs alone give.
    fn of_nothing(&self) -> DataType {
        match self.kind {
            Kind::Sum => DataType::Int64,
            Kind::Average => DataType::Float64,
        }
    }

    fn ending(&self, args: &AccumulatorArgs<'_>) -> Ending {
        match self.kind {
            Kind::Sum => Ending::Sum(args.return_field.data_type().clone()),
            Kind::Average => Ending::Average(args.return_field.data_type().clone()),
        }
    }
}

impl AggregateUDFImpl for Total {
    fn name(&self) -> &str {
        self.datafusions.name()
    }

    fn aliases(&self) -> &[String] {
        self.datafusions.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Null] => Ok(self.of_nothing()),
            _ => self.datafusions.return_type(arguments),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let values = args.input_fields[0].data_type();
        let field = |what, kind| {
            let name = format_state_name(args.name, what);
            Arc::new(Field::new(name, kind, true))
        };
        match wide_type(values) {
            None if values.is_null() => Ok(vec![field("nothing", DataType::Null)]),
            None => self.datafusions.state_fields(args),
            Some(_) if args.is_distinct => {
                let item = Field::new_list_field(values.clone(), true);
                let name = format_state_name(args.name, &format!("{} distinct", self.name()));
                Ok(vec![Arc::new(Field::new_list(name, item, false))])
            }
            Some(wide) => Ok(match self.kind {
                Kind::Sum => vec![field("sum", wide)],
                Kind::Average => vec![field("sum", wide), field("count", DataType::UInt64)],
            }),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let values = args.expr_fields[0].data_type();
        match wide_type(values) {
            None if values.is_null() => {
                let nothing = ScalarValue::try_from(&self.of_nothing())?;
                Ok(Box::new(NoopAccumulator::new(nothing)))
            }
            None => self.datafusions.accumulator(args),
            Some(wide) => {
                with_wide_type!(values, one(values, wide, self.ending(&args), args.is_distinct))
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
        match (wide_type(values), self.kind) {
            (None, _) => self.datafusions.create_groups_accumulator(args),
            (Some(wide), Kind::Sum) => {
                with_wide_type!(values, many(wide, args.return_field.data_type().clone()))
            }
            (Some(wide), Kind::Average) => {
                with_wide_type!(values, averaged(wide, args.return_field.data_type().clone()))
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

fn one<T, W>(
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

fn averaged<T, W>(wide: DataType, result: DataType) -> Result<Box<dyn GroupsAccumulator>>
where
    T: Widens<W> + Send,
    W: DecimalType + ArrowPrimitiveType + Widens<W> + Send,
{
    Ok(Box::new(AverageGroups::<T, W>::new(wide, result)))
}
