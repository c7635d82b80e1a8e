//! `as_is(x)`: a truth value, as it is. Nothing that simplifies expressions looks into it.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct AsIs {
    signature: Signature,
}

impl AsIs {
    pub fn new() -> Self {
        Self { signature: Signature::exact(vec![DataType::Boolean], Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for AsIs {
    fn name(&self) -> &str {
        "as_is"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(arguments.args.swap_remove(0))
    }
}
