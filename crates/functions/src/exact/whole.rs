//! `ceil(x)` and `floor(x)`: DataFusion's, but of a decimal they have room for one digit more.
//!
//! `ceil(999.99)` of a DECIMAL(5, 2) is 1000.00, for which DataFusion's result, of the same type, has no room.

use std::sync::Arc;

use arrow::datatypes::{
    DECIMAL32_MAX_PRECISION, DECIMAL64_MAX_PRECISION, DECIMAL128_MAX_PRECISION,
    DECIMAL256_MAX_PRECISION, DataType,
};
use datafusion::common::Result;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Whole {
    inner: Arc<ScalarUDF>,
}

impl Whole {
    pub fn new(inner: Arc<ScalarUDF>) -> Self {
        Self { inner }
    }
}

impl ScalarUDFImpl for Whole {
    inherit!(name, aliases, signature);

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments).map(|kind| with_room(&kind))
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(inputs)
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        for value in &mut arguments.args {
            let kind = value.data_type();
            if kind.is_decimal() {
                *value = value.cast_to(&with_room(&kind), None)?;
            }
        }
        self.inner.invoke_with_args(arguments)
    }
}

/// The type with one more digit before the point, if there is one.
fn with_room(kind: &DataType) -> DataType {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    match kind {
        Decimal32(precision, scale) if *precision < DECIMAL32_MAX_PRECISION => {
            Decimal32(precision + 1, *scale)
        }
        Decimal64(precision, scale) if *precision < DECIMAL64_MAX_PRECISION => {
            Decimal64(precision + 1, *scale)
        }
        Decimal128(precision, scale) if *precision < DECIMAL128_MAX_PRECISION => {
            Decimal128(precision + 1, *scale)
        }
        Decimal256(precision, scale) if *precision < DECIMAL256_MAX_PRECISION => {
            Decimal256(precision + 1, *scale)
        }
        other => other.clone(),
    }
}
