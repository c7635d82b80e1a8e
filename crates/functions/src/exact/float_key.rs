//! `float_key(x)`: equal floats made identical.
//!
//! `-0.0` equals `0.0`, and any NaN any other, in `=`, `GROUP BY` and joins. Sorting compares bits, in which these differ:
//! over this they do not.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FloatKey {
    signature: Signature,
}

impl FloatKey {
    pub fn new() -> Self {
        let kinds = vec![DataType::Float64, DataType::Float32];
        Self { signature: Signature::uniform(1, kinds, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for FloatKey {
    fn name(&self) -> &str {
        "float_key"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(keys, vec![])(&arguments.args)
    }
}

fn keys(columns: &[ArrayRef]) -> Result<ArrayRef> {
    // The sum of a negative and a positive zero is the positive one.
    macro_rules! floats {
        ($kind:ty, $nan:expr) => {{
            let floats = columns[0].as_primitive::<$kind>();
            let key = |x| if x != x { $nan } else { x + 0.0 };
            Ok(Arc::new(floats.unary::<_, $kind>(key)) as ArrayRef)
        }};
    }
    match columns[0].data_type() {
        DataType::Float32 => floats!(Float32Type, f32::NAN),
        _ => floats!(Float64Type, f64::NAN),
    }
}
