//! `one_nan(x)`: a float as it is, but that any NaN is the same one.
//!
//! A NaN has a sign and a payload, which SQL does not know of. Those that arithmetic makes have another sign than those of a
//! file, and comparisons, hashes and sorts look at all bits.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, FieldRef, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct OneNan {
    signature: Signature,
}

impl OneNan {
    pub fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for OneNan {
    fn name(&self) -> &str {
        "one_nan"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("one_nan is asked for its field, not its type")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(args.arg_fields[0].as_ref().clone().with_name(self.name())))
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(match args.args.swap_remove(0) {
            ColumnarValue::Array(values) => ColumnarValue::Array(with_one_nan(&values)),
            ColumnarValue::Scalar(value) => ColumnarValue::Scalar(scalar_with_one_nan(value)),
        })
    }

    fn is_strict(&self) -> bool {
        true
    }
}

/// The same floats, with one NaN. Anything else is as it was; so is what has no other NaN, without a copy.
pub fn with_one_nan(values: &ArrayRef) -> ArrayRef {
    macro_rules! floats {
        ($kind:ty, $native:ident) => {{
            let floats = values.as_primitive::<$kind>();
            let is_other = |x: &$native| x.is_nan() && x.to_bits() != $native::NAN.to_bits();
            match floats.values().iter().any(is_other) {
                true => Arc::new(floats.unary::<_, $kind>(|x| match x.is_nan() {
                    true => $native::NAN,
                    false => x,
                })),
                false => Arc::clone(values),
            }
        }};
    }
    match values.data_type() {
        DataType::Float32 => floats!(Float32Type, f32),
        DataType::Float64 => floats!(Float64Type, f64),
        _ => Arc::clone(values),
    }
}

pub fn scalar_with_one_nan(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Float32(Some(x)) if x.is_nan() => ScalarValue::Float32(Some(f32::NAN)),
        ScalarValue::Float64(Some(x)) if x.is_nan() => ScalarValue::Float64(Some(f64::NAN)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Float64Array;

    use super::*;

    #[test]
    fn there_is_one_nan_and_nothing_else_changes() {
        let values =
            [Some(-f64::NAN), None, Some(f64::from_bits(0x7ff8_0000_0000_0001)), Some(-0.0)];
        let values: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
        let made = with_one_nan(&values);
        let made = made.as_primitive::<Float64Type>();
        assert_eq!(made.value(0).to_bits(), f64::NAN.to_bits());
        assert!(made.is_null(1));
        assert_eq!(made.value(2).to_bits(), f64::NAN.to_bits());
        assert_eq!(made.value(3).to_bits(), (-0.0_f64).to_bits());
    }

    #[test]
    fn what_is_fine_is_not_copied() {
        let values: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN, f64::INFINITY]));
        assert!(Arc::ptr_eq(&values, &with_one_nan(&values)));
    }
}
