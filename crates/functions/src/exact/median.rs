//! `median` of whole numbers: what is between 1 and 2 is 1.5.
//!
//! DataFusion's gives a whole number again, cut off. Here they are floats, as in any other database.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::functions_aggregate::median::median_udaf;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Median {
    inner: AggregateUDF,
    signature: Signature,
}

impl Median {
    pub fn new() -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        Self { inner: median_udaf().as_ref().clone(), signature }
    }
}

impl AggregateUDFImpl for Median {
    inherit!(name, return_type, state_fields, groups_accumulator_supported);

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        match arguments {
            [kind] if kind.is_integer() => Ok(vec![DataType::Float64]),
            [kind] if kind.is_numeric() || kind.is_null() => Ok(vec![kind.clone()]),
            [kind] => datafusion::common::plan_err!("median() is of numbers, not of {kind}"),
            _ => datafusion::common::plan_err!("median() has one argument"),
        }
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(arguments)
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(arguments)
    }
}
