//! `version()`: ours, not that of a library below.

use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

const VERSION: &str = concat!("Caudal ", env!("CARGO_PKG_VERSION"));

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Version {
    signature: Signature,
}

impl Version {
    pub fn new() -> Self {
        Self { signature: Signature::nullary(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Version {
    fn name(&self) -> &str {
        "version"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(VERSION.to_string()))))
    }
}
