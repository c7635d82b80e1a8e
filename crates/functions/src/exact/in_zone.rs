//! `in_zone(t, 'X')`: the moment at which clocks in a zone show a time.
//!
//! Where clocks are set back they show some times twice, and where they are set forward some never: DataFusion's cast is an error for
//! both. As in PostgreSQL what comes twice is taken for the second one, and what never comes is told by the offset before.

use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowTimestampType, DataType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::temporal_conversions::as_datetime;
use chrono::{NaiveDateTime, Offset, TimeDelta, TimeZone};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

const UTC: &str = "+00:00";

/// Clocks are set by whole multiples of it, and by two days at most.
const STEP_MINUTES: i64 = 15;
const STEPS_MAX: i32 = 2 * 24 * 4;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct InZone {
    signature: Signature,
}

impl InZone {
    pub fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for InZone {
    fn name(&self) -> &str {
        "in_zone"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Timestamp(unit, None), _] => {
                Ok(DataType::Timestamp(*unit, Some(UTC.into())))
            }
            _ => exec_err!("{} is of a timestamp without a zone", self.name()),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [times, ColumnarValue::Scalar(zone)] = &arguments.args[..] else {
            return exec_err!("{} takes a constant zone", self.name());
        };
        let zone: Tz = zone.try_as_str().flatten().unwrap_or_default().parse()?;
        Ok(match times {
            ColumnarValue::Array(times) => ColumnarValue::Array(moments(times, zone)?),
            ColumnarValue::Scalar(time) => {
                let moment = moments(&time.to_array()?, zone)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&moment, 0)?)
            }
        })
    }
}

fn moments(times: &ArrayRef, zone: Tz) -> Result<ArrayRef> {
    match times.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(times, zone, 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            of::<TimestampMillisecondType>(times, zone, 1_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            of::<TimestampMicrosecondType>(times, zone, 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            of::<TimestampNanosecondType>(times, zone, 1_000_000_000)
        }
        other => exec_err!("{other} is no timestamp"),
    }
}

fn of<T: ArrowTimestampType>(times: &ArrayRef, zone: Tz, units_a_second: i64) -> Result<ArrayRef> {
    let moments = times.as_primitive::<T>().iter().map(|time| {
        let Some(time) = time else { return Ok(None) };
        let offset = as_datetime::<T>(time).and_then(|local| offset_seconds(zone, local));
        match offset.and_then(|seconds| time.checked_sub(seconds * units_a_second)) {
            Some(moment) => Ok(Some(moment)),
            None => exec_err!("a time is out of range"),
        }
    });
    let moments = moments.collect::<Result<PrimitiveArray<T>>>()?;
    Ok(Arc::new(moments.with_timezone(UTC)))
}

/// What clocks that show a time are ahead of UTC.
fn offset_seconds(zone: Tz, local: NaiveDateTime) -> Option<i64> {
    let before = |steps: i32| {
        let earlier = local.checked_sub_signed(TimeDelta::minutes(STEP_MINUTES) * steps)?;
        zone.offset_from_local_datetime(&earlier).latest()
    };
    let offset = (0..=STEPS_MAX).find_map(before)?;
    Some(offset.fix().local_minus_utc().into())
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    fn hours(zone: &str, day: (i32, u32, u32), hour: u32, minute: u32) -> f64 {
        let day = NaiveDate::from_ymd_opt(day.0, day.1, day.2).unwrap();
        let local = day.and_hms_opt(hour, minute, 0).unwrap();
        offset_seconds(zone.parse().unwrap(), local).unwrap() as f64 / 3_600.0
    }

    #[test]
    fn clocks_that_are_set_back_show_the_second_of_two_times() {
        assert_eq!(hours("America/New_York", (2020, 11, 1), 0, 59), -4.0);
        assert_eq!(hours("America/New_York", (2020, 11, 1), 1, 30), -5.0);
        assert_eq!(hours("America/New_York", (2020, 11, 1), 2, 0), -5.0);
    }

    #[test]
    fn a_time_that_they_never_show_is_told_by_the_offset_before() {
        assert_eq!(hours("America/New_York", (2020, 3, 8), 2, 30), -5.0);
        assert_eq!(hours("Australia/Lord_Howe", (2020, 10, 4), 2, 15), 10.5);
        // A day that there was not.
        assert_eq!(hours("Pacific/Apia", (2011, 12, 30), 12, 0), -10.0);
    }
}
