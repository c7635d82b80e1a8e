//! `nearest_step(t, n)` and `last_step(t, n)`: a timestamp at the nearest, or the last, multiple of `n` of its units.
//!
//! They are what CAST to a coarser timestamp and `date_trunc` are made of. DataFusion's cast cuts off, its `date_trunc` of a constant
//! rounds towards 1970. As in PostgreSQL, what is in the middle goes away from 2000.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

/// The first second of 2000, counted from 1970.
const YEAR_2000: i64 = 946_684_800;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Nearest,
    Last,
}

impl Step {
    /// `None` where there is no such time.
    fn of(self, time: i64, size: i64, year_2000: i64) -> Option<i64> {
        let last = time.checked_sub(time.checked_rem_euclid(size)?)?;
        let beyond = time - last;
        let is_up = match self {
            Step::Last => false,
            // Half of an odd number is no time.
            Step::Nearest => beyond * 2 > size || beyond * 2 == size && time >= year_2000,
        };
        if is_up { last.checked_add(size) } else { Some(last) }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ToStep {
    step: Step,
    signature: Signature,
}

impl ToStep {
    pub fn new(step: Step) -> Self {
        Self { step, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for ToStep {
    fn name(&self) -> &str {
        match self.step {
            Step::Nearest => "nearest_step",
            Step::Last => "last_step",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let step = self.step;
        make_scalar_function(move |columns| to_steps(step, columns), vec![])(&arguments.args)
    }
}

fn to_steps(step: Step, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let sizes = &columns[1];
    match columns[0].data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            steps::<TimestampSecondType>(step, &columns[0], sizes, 1)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            steps::<TimestampMillisecondType>(step, &columns[0], sizes, 1_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            steps::<TimestampMicrosecondType>(step, &columns[0], sizes, 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            steps::<TimestampNanosecondType>(step, &columns[0], sizes, 1_000_000_000)
        }
        other => internal_err!("steps are of timestamps, not of {other}"),
    }
}

fn steps<T: ArrowPrimitiveType<Native = i64>>(
    step: Step,
    times: &ArrayRef,
    sizes: &ArrayRef,
    units_a_second: i64,
) -> Result<ArrayRef> {
    let year_2000 = YEAR_2000 * units_a_second;
    let rows = times.as_primitive::<T>().iter().zip(sizes.as_primitive::<Int64Type>());
    let rows = rows.map(|(time, size)| {
        let Some((time, size)) = time.zip(size) else { return Ok(None) };
        match step.of(time, size, year_2000) {
            Some(time) => Ok(Some(time)),
            None => exec_err!("a time is out of range"),
        }
    });
    let rows = rows.collect::<Result<PrimitiveArray<T>>>()?;
    Ok(Arc::new(rows.with_data_type(times.data_type().clone())))
}

#[cfg(test)]
mod tests {
    use super::Step::{Last, Nearest};

    #[test]
    fn times_go_to_the_nearest_step_and_from_the_middle_away_from_2000() {
        assert_eq!(Nearest.of(14, 10, 0), Some(10));
        assert_eq!(Nearest.of(15, 10, 0), Some(20));
        assert_eq!(Nearest.of(16, 10, 0), Some(20));
        assert_eq!(Nearest.of(-14, 10, 0), Some(-10));
        assert_eq!(Nearest.of(-15, 10, 0), Some(-20));
        assert_eq!(Nearest.of(15, 10, 100), Some(10));
        assert_eq!(Nearest.of(i64::MAX, 1_000, 0), None);
    }

    #[test]
    fn or_to_the_last_one_also_before_1970() {
        assert_eq!(Last.of(19, 10, 0), Some(10));
        assert_eq!(Last.of(-11, 10, 0), Some(-20));
        assert_eq!(Last.of(-20, 10, 0), Some(-20));
        assert_eq!(Last.of(i64::MIN, 1_000, 0), None);
    }
}
