//! `interval_part(part, x)`: a field of an interval, or of the difference of two times; its `epoch` in seconds.
//!
//! As in PostgreSQL: the hours of a difference are what is left of its days, those of an interval are as they were written; a year's
//! epoch is that of 365.25 days, the other months' of 30. DataFusion gives all the hours that a difference has, NULL where they are
//! too many, and epochs without fractions, in which a year is 360 days.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, FieldRef, Int32Type, Int64Type, IntervalMonthDayNanoType,
    IntervalUnit,
};
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use super::interval_key::nanoseconds;

const NANOS_A_SECOND: i128 = 1_000_000_000;
const NANOS_A_MINUTE: i128 = 60 * NANOS_A_SECOND;
const NANOS_A_HOUR: i128 = 60 * NANOS_A_MINUTE;
const NANOS_A_DAY: i128 = 24 * NANOS_A_HOUR;
const DAYS_A_MONTH: i128 = 30;
/// Four years are 1461 days.
const NANOS_A_YEAR: i128 = NANOS_A_DAY * 1_461 / 4;

/// Parts that an interval has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Year,
    Quarter,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Epoch,
}

impl Part {
    /// The part of this name, if an interval has it.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim_matches(['\'', '"']).to_ascii_lowercase();
        Some(match name.as_str() {
            "y" | "yr" | "yrs" | "year" | "years" => Self::Year,
            "qtr" | "quarter" => Self::Quarter,
            "mon" | "mons" | "month" | "months" => Self::Month,
            "d" | "day" | "days" => Self::Day,
            "h" | "hr" | "hrs" | "hour" | "hours" => Self::Hour,
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Minute,
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Second,
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => Self::Millisecond,
            "us" | "usec" | "usecs" | "microsecond" | "microseconds" => Self::Microsecond,
            "ns" | "nanosecond" | "nanoseconds" => Self::Nanosecond,
            "epoch" => Self::Epoch,
            _ => return None,
        })
    }

    /// The type that DataFusion gives it.
    fn data_type(self) -> DataType {
        match self {
            Self::Epoch => DataType::Float64,
            Self::Nanosecond => DataType::Int64,
            _ => DataType::Int32,
        }
    }

    fn of(self, fields: Fields) -> i128 {
        let Fields { months, days, nanos } = fields;
        let seconds = nanos % NANOS_A_MINUTE;
        match self {
            Self::Year => months / 12,
            Self::Quarter => months % 12 / 3 + 1,
            Self::Month => months % 12,
            Self::Day => days,
            Self::Hour => nanos / NANOS_A_HOUR,
            Self::Minute => nanos / NANOS_A_MINUTE % 60,
            Self::Second => seconds / NANOS_A_SECOND,
            Self::Millisecond => seconds / 1_000_000,
            Self::Microsecond => seconds / 1_000,
            Self::Nanosecond => seconds,
            Self::Epoch => {
                let days = days + months % 12 * DAYS_A_MONTH;
                months / 12 * NANOS_A_YEAR + days * NANOS_A_DAY + nanos
            }
        }
    }
}

/// An interval, taken apart.
#[derive(Clone, Copy, Debug)]
struct Fields {
    months: i128,
    days: i128,
    nanos: i128,
}

impl Fields {
    /// Of a difference of two times.
    fn of_difference(nanos: i128) -> Self {
        Self { months: 0, days: nanos / NANOS_A_DAY, nanos: nanos % NANOS_A_DAY }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct IntervalPart {
    signature: Signature,
}

impl IntervalPart {
    pub fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for IntervalPart {
    fn name(&self) -> &str {
        "interval_part"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} is asked for its field, not its type", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let is_nullable = args.arg_fields[1].is_nullable();
        let kind = part(args.scalar_arguments[0])?.data_type();
        Ok(Arc::new(Field::new(self.name(), kind, is_nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [name, intervals] = &arguments.args[..] else {
            return exec_err!("{} takes two arguments", self.name());
        };
        let ColumnarValue::Scalar(name) = name else { return part(None).map(|_| name.clone()) };
        let part = part(Some(name))?;
        Ok(match intervals {
            ColumnarValue::Array(intervals) => ColumnarValue::Array(parts(part, intervals)?),
            ColumnarValue::Scalar(interval) => {
                let one = parts(part, &interval.to_array()?)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&one, 0)?)
            }
        })
    }
}

/// The part that a constant names.
fn part(name: Option<&ScalarValue>) -> Result<Part> {
    match name.and_then(|name| name.try_as_str().flatten()).and_then(Part::named) {
        Some(part) => Ok(part),
        None => exec_err!("an interval has no such part"),
    }
}

fn parts(part: Part, intervals: &ArrayRef) -> Result<ArrayRef> {
    let fields: Vec<Option<Fields>> = match intervals.data_type() {
        DataType::Duration(_) => {
            let differences = nanoseconds(intervals)?;
            differences.map(|nanos| nanos.map(Fields::of_difference)).collect()
        }
        _ => {
            let intervals = cast(intervals, &DataType::Interval(IntervalUnit::MonthDayNano))?;
            let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>();
            let fields = intervals.iter().map(|interval| {
                interval.map(|interval| Fields {
                    months: interval.months.into(),
                    days: interval.days.into(),
                    nanos: interval.nanoseconds.into(),
                })
            });
            fields.collect()
        }
    };
    let values = fields.into_iter().map(|fields| fields.map(|fields| part.of(fields)));
    match part.data_type() {
        DataType::Float64 => {
            let seconds = values.map(|nanos| nanos.map(in_seconds));
            Ok(Arc::new(seconds.collect::<Float64Array>()))
        }
        DataType::Int64 => fitting::<Int64Type>(values),
        _ => fitting::<Int32Type>(values),
    }
}

fn fitting<T: ArrowPrimitiveType>(values: impl Iterator<Item = Option<i128>>) -> Result<ArrayRef>
where
    T::Native: TryFrom<i128>,
{
    let values = values.map(|value| match value.map(T::Native::try_from).transpose() {
        Ok(value) => Ok(value),
        Err(_) => exec_err!("a part of an interval is out of range"),
    });
    Ok(Arc::new(values.collect::<Result<PrimitiveArray<T>>>()?))
}

/// The nearest float.
fn in_seconds(nanos: i128) -> f64 {
    const EXACT_MAX: i128 = 1 << f64::MANTISSA_DIGITS;
    match nanos.abs() <= EXACT_MAX {
        true => nanos as f64 / NANOS_A_SECOND as f64,
        false if nanos % NANOS_A_SECOND == 0 => (nanos / NANOS_A_SECOND) as f64,
        // Neither of the two is a float: what is written is read as the nearest one.
        false => format!("{nanos}e-9").parse().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: i128 = NANOS_A_HOUR;

    #[test]
    fn the_hours_of_a_difference_are_what_is_left_of_its_days() {
        let long = Fields::of_difference(49 * HOURS + 90 * NANOS_A_SECOND);
        assert_eq!(Part::Day.of(long), 2);
        assert_eq!(Part::Hour.of(long), 1);
        assert_eq!(Part::Minute.of(long), 1);
        assert_eq!(Part::Second.of(long), 30);
        let back = Fields::of_difference(-25 * HOURS - 1_500_000_000);
        assert_eq!((Part::Day.of(back), Part::Hour.of(back)), (-1, -1));
        assert_eq!((Part::Second.of(back), Part::Millisecond.of(back)), (-1, -1_500));
    }

    #[test]
    fn a_year_is_longer_than_twelve_months() {
        let months = |months| Fields { months, days: 0, nanos: 0 };
        assert_eq!(Part::Epoch.of(months(12)), 31_557_600 * NANOS_A_SECOND);
        assert_eq!(Part::Epoch.of(months(-14)), -36_741_600 * NANOS_A_SECOND);
        assert_eq!(Part::Epoch.of(months(11)), 28_512_000 * NANOS_A_SECOND);
    }

    #[test]
    fn seconds_are_the_nearest_float() {
        assert_eq!(in_seconds(86_400_500_000_000), 86_400.5);
        assert_eq!(in_seconds(15_778_454_400_123_456_789), 15_778_454_400.123_457);
        assert_eq!(in_seconds(-3_786_825_600_000_000_001), -3_786_825_600.0);
    }

    #[test]
    fn parts_have_the_names_that_sql_knows() {
        for (name, part) in
            [("EPOCH", Part::Epoch), ("'hour'", Part::Hour), ("msecs", Part::Millisecond)]
        {
            assert_eq!(Part::named(name), Some(part));
        }
        assert_eq!(Part::named("dow"), None);
    }
}
