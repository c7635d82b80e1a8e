//! `can_add(t, i)` and `can_subtract(t, i)`: a time as it is; an error where the interval leads out of what its type holds.
//!
//! A window's `RANGE ... INTERVAL '1 month' FOLLOWING` looks for a row that far away. DataFusion takes the last row where there is
//! no such time, which may be one without any.

use arrow::array::Datum;
use arrow::compute::kernels::numeric;
use arrow::datatypes::{DataType, FieldRef};
use arrow::error::ArrowError;
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Reach {
    subtracts: bool,
    signature: Signature,
}

impl Reach {
    pub fn new(subtracts: bool) -> Self {
        Self { subtracts, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Reach {
    fn name(&self) -> &str {
        if self.subtracts { "can_subtract" } else { "can_add" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} is asked for its field, not its type", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(args.arg_fields[0].as_ref().clone().with_name(self.name()).into())
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let reach = |time: &dyn Datum, interval: &dyn Datum| match self.subtracts {
            true => numeric::sub(time, interval),
            false => numeric::add(time, interval),
        };
        let out_of_range = |error| match error {
            ArrowError::ComputeError(words) => ArrowError::ArithmeticOverflow(words),
            other => other,
        };
        let [time, interval] = args.args.as_slice() else {
            return exec_err!("{} takes two arguments", self.name());
        };
        apply(time, interval, |time, interval| reach(time, interval).map_err(out_of_range))?;
        Ok(args.args.swap_remove(0))
    }
}
