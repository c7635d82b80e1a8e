//! Number of values that `range` and `generate_series` make.

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, IntervalMonthDayNanoType, TimeUnit, TimestampNanosecondType,
};
use datafusion::error::Result;

use super::measure::Argument;

const DAY: i128 = 86_400_000_000_000;
/// The shortest one, with one day less for a clock that is set forward.
const MONTH: i128 = 27 * DAY;

/// Bytes of the list of a row; nothing for NULLs, and for what is an error.
pub fn bytes(arguments: &[Argument], row: usize, with_end: bool) -> Result<u128> {
    if arguments.iter().any(|argument| argument.is_null(row)) {
        return Ok(0);
    }
    let count = match arguments.first().map(|argument| argument.array.data_type()) {
        Some(DataType::Int64) => integers(arguments, row, with_end),
        Some(DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) => {
            times(arguments, row)?
        }
        _ => Some(0),
    };
    Ok(count.unwrap_or(0).saturating_mul(8))
}

fn integers(arguments: &[Argument], row: usize, with_end: bool) -> Option<u128> {
    let number = |at: usize| arguments.get(at)?.number(row).map(i128::from);
    let (start, stop, step) = match arguments.len() {
        1 => (0, number(0)?, 1),
        2 => (number(0)?, number(1)?, 1),
        _ => (number(0)?, number(1)?, number(2)?),
    };
    let way = if step < 0 { start - stop } else { stop - start };
    let way = if with_end { way } else { way - 1 };
    if way < 0 || step == 0 {
        return Some(0);
    }
    Some(way.unsigned_abs() / step.unsigned_abs() + 1)
}

/// As if every step were as short as it can be.
fn times(arguments: &[Argument], row: usize) -> Result<Option<u128>> {
    let [start, stop, step, ..] = arguments else { return Ok(None) };
    let (Some(from), Some(to)) = (nanoseconds(start, row)?, nanoseconds(stop, row)?) else {
        return Ok(None);
    };
    let Some(steps) = step.array.as_primitive_opt::<IntervalMonthDayNanoType>() else {
        return Ok(None);
    };
    let step = steps.value(step.at(row));
    let (months, days) = (i128::from(step.months), i128::from(step.days));
    let length = months * MONTH + days * DAY + i128::from(step.nanoseconds);
    let way = to - from;
    // A day may be an hour shorter than most, a step of one day is at least 23.
    let length = length.unsigned_abs().saturating_sub((days.unsigned_abs()) * (DAY as u128 / 24));
    Ok(Some(way.unsigned_abs() / length.max(1) + 1))
}

fn nanoseconds(argument: &Argument, row: usize) -> Result<Option<i128>> {
    let at = argument.at(row);
    let one = argument.array.slice(at, 1);
    if matches!(one.data_type(), DataType::Date32 | DataType::Date64) {
        let days = cast(&one, &DataType::Date32)?;
        return Ok(Some(i128::from(days.as_primitive::<Date32Type>().value(0)) * DAY));
    }
    let zone = match one.data_type() {
        DataType::Timestamp(_, zone) => zone.clone(),
        _ => return Ok(None),
    };
    let times = cast(&one, &DataType::Timestamp(TimeUnit::Nanosecond, zone))?;
    Ok(Some(i128::from(times.as_primitive::<TimestampNanosecondType>().value(0))))
}
