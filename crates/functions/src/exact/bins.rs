//! `date_bin(width, t[, from])`: DataFusion's, but what it has no time for is an error, not NULL.
//!
//! A bin before the year 1677 has none; neither has one whose start is more than 292 years from `from`. A width that is not more
//! than nothing is an error, too, as in PostgreSQL.

use arrow::array::Array;
use arrow::error::ArrowError;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::functions::datetime::date_bin::DateBinFunc;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Bins {
    inner: DateBinFunc,
}

impl Bins {
    pub fn new() -> Self {
        Self { inner: DateBinFunc::new() }
    }
}

impl ScalarUDFImpl for Bins {
    inherit!(name, signature, return_type);

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(inputs)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if let Some(ColumnarValue::Scalar(width)) = arguments.args.first()
            && !is_more_than_nothing(width)
        {
            return exec_err!("the width of date_bin has to be more than nothing");
        }
        let is_known = |value: &ColumnarValue| match value {
            ColumnarValue::Scalar(value) => !value.is_null(),
            ColumnarValue::Array(_) => true,
        };
        let may_be_lost = arguments.args.iter().all(is_known);
        let times = arguments.args.get(1).cloned();
        let bins = self.inner.invoke_with_args(arguments)?;
        if let Some(times) = times.filter(|_| may_be_lost)
            && nulls(&bins) > nulls(&times)
        {
            return Err(
                ArrowError::ArithmeticOverflow("the start of a bin of date_bin".into()).into()
            );
        }
        Ok(bins)
    }
}

fn nulls(value: &ColumnarValue) -> usize {
    match value {
        ColumnarValue::Scalar(value) => usize::from(value.is_null()),
        ColumnarValue::Array(values) => values.null_count(),
    }
}

/// Whether an interval can be the width of bins. NULL makes them NULL.
pub fn is_more_than_nothing(width: &ScalarValue) -> bool {
    match width {
        ScalarValue::IntervalMonthDayNano(Some(width)) => {
            let days = i128::from(width.months) * 30 + i128::from(width.days);
            days * NANOSECONDS_A_DAY + i128::from(width.nanoseconds) > 0
        }
        ScalarValue::IntervalDayTime(Some(width)) => {
            let milliseconds = i128::from(width.milliseconds) * 1_000_000;
            i128::from(width.days) * NANOSECONDS_A_DAY + milliseconds > 0
        }
        _ => true,
    }
}

const NANOSECONDS_A_DAY: i128 = 86_400_000_000_000;
