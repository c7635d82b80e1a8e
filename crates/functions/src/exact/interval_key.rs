//! `interval_key(x)`: how long an interval is, in nanoseconds, by which intervals are compared.
//!
//! As everybody does: a month is 30 days and a day 24 hours. DataFusion compares months first, then days, then the rest, so that a
//! day is longer than 25 hours.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit, TimeUnit,
};
use datafusion::common::{Result, internal_err};
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
        DataType::Duration(_) => nanoseconds(&columns[0])?.collect(),
        _ => {
            let parts = cast(&columns[0], &DataType::Interval(IntervalUnit::MonthDayNano))?;
            parts.as_primitive::<IntervalMonthDayNanoType>().unary(length)
        }
    };
    Ok(Arc::new(lengths.with_precision_and_scale(DECIMAL128_MAX_PRECISION, 0)?))
}

/// The differences of times in nanoseconds, which may be more than 64 bits hold: DataFusion's cast makes NULLs of those.
pub fn nanoseconds(differences: &ArrayRef) -> Result<impl Iterator<Item = Option<i128>>> {
    let nanos_a_unit: i128 = match differences.data_type() {
        DataType::Duration(TimeUnit::Second) => 1_000_000_000,
        DataType::Duration(TimeUnit::Millisecond) => 1_000_000,
        DataType::Duration(TimeUnit::Microsecond) => 1_000,
        DataType::Duration(TimeUnit::Nanosecond) => 1,
        other => return internal_err!("{other} is no difference of times"),
    };
    let units = cast(differences, &DataType::Int64)?.as_primitive::<Int64Type>().clone();
    let units: Vec<_> = units.iter().collect();
    Ok(units.into_iter().map(move |unit| unit.map(|unit| i128::from(unit) * nanos_a_unit)))
}

fn length(interval: IntervalMonthDayNano) -> i128 {
    let days = i128::from(interval.months) * DAYS_A_MONTH + i128::from(interval.days);
    days * NANOS_A_DAY + i128::from(interval.nanoseconds)
}

#[cfg(test)]
mod tests {
    use arrow::array::DurationMicrosecondArray;

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

    #[test]
    fn differences_of_times_may_be_longer_than_292_years() {
        let differences = DurationMicrosecondArray::from(vec![Some(i64::MAX), None, Some(-1)]);
        let differences: ArrayRef = Arc::new(differences);
        let expected = [Some(i128::from(i64::MAX) * 1_000), None, Some(-1_000)];
        assert_eq!(nanoseconds(&differences).unwrap().collect::<Vec<_>>(), expected);
    }
}
