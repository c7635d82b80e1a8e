//! `interval_key(x)`: how long an interval is, in nanoseconds, by which intervals are compared.
//!
//! As everybody does: a month is 30 days and a day 24 hours. DataFusion compares months first, then days, then the rest, so that a
//! day is longer than 25 hours.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, DurationNanosecondType, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, TimeUnit,
};
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

const NANOS_A_DAY: i128 = 86_400_000_000_000;
const DAYS_A_MONTH: i128 = 30;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct IntervalKey {
    signature: Signature,
}

impl IntervalKey {
    pub fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for IntervalKey {
    fn name(&self) -> &str {
        "interval_key"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(keys, vec![])(&arguments.args)
    }
}

fn keys(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let lengths: Decimal128Array = match columns[0].data_type() {
        // The difference of two times.
        DataType::Duration(_) => {
            let lengths = cast(&columns[0], &DataType::Duration(TimeUnit::Nanosecond))?;
            lengths.as_primitive::<DurationNanosecondType>().unary(i128::from)
        }
        _ => {
            let parts = cast(&columns[0], &DataType::Interval(IntervalUnit::MonthDayNano))?;
            parts.as_primitive::<IntervalMonthDayNanoType>().unary(length)
        }
    };
    Ok(Arc::new(lengths.with_precision_and_scale(DECIMAL128_MAX_PRECISION, 0)?))
}

fn length(interval: IntervalMonthDayNano) -> i128 {
    let days = i128::from(interval.months) * DAYS_A_MONTH + i128::from(interval.days);
    days * NANOS_A_DAY + i128::from(interval.nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_as_long_as_its_months_days_and_hours() {
        let hours = |hours: i64| IntervalMonthDayNano::new(0, 0, hours * 3_600_000_000_000);
        let days = |days| IntervalMonthDayNano::new(0, days, 0);
        assert_eq!(length(days(1)), length(hours(24)));
        assert_eq!(length(IntervalMonthDayNano::new(1, 0, 0)), length(days(30)));
        assert!(length(days(1)) < length(hours(25)));
        let longest = IntervalMonthDayNano::new(i32::MAX, i32::MAX, i64::MAX);
        assert!(length(longest) < 10_i128.pow(DECIMAL128_MAX_PRECISION.into()));
    }
}
