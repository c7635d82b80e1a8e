//! `in_time(x)`: a number of seconds since 1970, as it is; an error where there is no timestamp of it.
//!
//! `to_timestamp(x)` of a float takes the nearest timestamp for it: the year 2262 for infinity, 1970 for NaN.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

const NANOSECONDS_A_SECOND: f64 = 1e9;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct InTime {
    signature: Signature,
}

impl InTime {
    pub fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for InTime {
    fn name(&self) -> &str {
        "in_time"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(seconds, vec![])(&arguments.args)
    }
}

fn seconds(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let column = cast(&columns[0], &DataType::Float64)?;
    let numbers = column.as_primitive::<Float64Type>();
    if let Some(number) = numbers.iter().flatten().find(|number| !is_time(*number)) {
        let words = format!("TIMESTAMP of {number:?} seconds since 1970");
        return Err(ArrowError::ArithmeticOverflow(words).into());
    }
    Ok(Arc::new(numbers.clone()))
}

/// Whether its nanoseconds are in 64 bits; NaN has none.
fn is_time(seconds: f64) -> bool {
    let nanoseconds = seconds * NANOSECONDS_A_SECOND;
    // The largest of 64 bits as a float is one too many.
    nanoseconds >= i64::MIN as f64 && nanoseconds < i64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::is_time;

    #[test]
    fn there_is_time_for_292_years() {
        for seconds in [0.0, -1.5, 9_223_372_036.0, -9_223_372_036.0] {
            assert!(is_time(seconds), "{seconds}");
        }
        for seconds in [1e10, -1e10, 9_223_372_036.9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!is_time(seconds), "{seconds}");
        }
    }
}
