//! `round_digits(x, n)` and `trunc_digits(x, n)`: `round` and `trunc` of floats to some digits.
//!
//! DataFusion's multiply by a power of ten that may be infinite, and take `0.29 * 100` for less than 29.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float32Array, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type};
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

/// Of more digits than these no float has any, before the point or after it.
const DIGITS_MAX: i64 = 400;

/// Treatment of the digits beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Digits {
    Round,
    Trunc,
}

impl Digits {
    fn of(self, x: f64, digits: i64) -> f64 {
        if !x.is_finite() || x == 0.0 {
            return x;
        }
        let whole = |scaled: f64| match self {
            Digits::Round => scaled.round(),
            Digits::Trunc => scaled.trunc(),
        };
        let power = 10_f64.powi(digits.abs().min(DIGITS_MAX) as i32);
        if digits <= 0 {
            return if power.is_finite() { whole(x / power) * power } else { 0.0 };
        }
        let scaled = x * power;
        // A number of so many digits has none beyond; neither has one that is its own nearest.
        let is_whole = |scaled: f64| scaled.abs() >= f64::EPSILON.recip() || scaled.is_nan();
        if is_whole(scaled) || scaled.round() / power == x {
            return x;
        }
        whole(scaled) / power
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ToDigits {
    digits: Digits,
    signature: Signature,
}

impl ToDigits {
    pub fn new(digits: Digits) -> Self {
        Self { digits, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for ToDigits {
    fn name(&self) -> &str {
        match self.digits {
            Digits::Round => "round_digits",
            Digits::Trunc => "trunc_digits",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let digits = self.digits;
        make_scalar_function(move |columns| to_digits(digits, columns), vec![])(&arguments.args)
    }
}

fn to_digits(kind: Digits, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let digits = cast(&columns[1], &DataType::Int64)?;
    let digits = digits.as_primitive::<Int64Type>().iter();
    Ok(match columns[0].data_type() {
        DataType::Float32 => {
            let rows = columns[0].as_primitive::<Float32Type>().iter().zip(digits);
            // By the digits that it is written with, not those that it has as a longer float.
            let shown = |x: f32| x.to_string().parse::<f64>().unwrap_or(f64::from(x));
            let rows = rows.map(|(x, digits)| Some(kind.of(shown(x?), digits?) as f32));
            Arc::new(rows.collect::<Float32Array>())
        }
        _ => {
            let rows = columns[0].as_primitive::<Float64Type>().iter().zip(digits);
            let rows = rows.map(|(x, digits)| Some(kind.of(x?, digits?)));
            Arc::new(rows.collect::<Float64Array>())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::Digits::{Round, Trunc};

    #[test]
    fn digits_that_are_not_there_change_nothing() {
        for kind in [Round, Trunc] {
            assert_eq!(kind.of(1e300, 10), 1e300);
            assert_eq!(kind.of(1.5, 400), 1.5);
            assert_eq!(kind.of(0.29, 2), 0.29);
            assert_eq!(kind.of(-0.29, 2), -0.29);
            assert_eq!(kind.of(1e-310, 320), 1e-310);
            assert!(kind.of(f64::NAN, 2).is_nan());
        }
    }

    #[test]
    fn the_others_go() {
        assert_eq!(Round.of(1.256, 2), 1.26);
        assert_eq!(Trunc.of(1.256, 2), 1.25);
        assert_eq!(Trunc.of(-1.256, 2), -1.25);
        assert_eq!(Round.of(155.0, -1), 160.0);
        assert_eq!(Trunc.of(155.0, -1), 150.0);
        assert_eq!(Round.of(1.5, -400), 0.0);
    }
}
