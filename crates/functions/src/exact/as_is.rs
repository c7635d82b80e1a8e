//! `as_is(x)`: a value, as it is. Nothing that simplifies expressions looks into it from outside.
//!
//! `beside(x, y)`: the same, and not known before `y` is: even a constant stays what it is.

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct AsIs {
    beside: bool,
    signature: Signature,
}

impl AsIs {
    pub fn alone() -> Self {
        Self { beside: false, signature: Signature::any(1, Volatility::Immutable) }
    }

    pub fn beside() -> Self {
        Self { beside: true, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for AsIs {
    fn name(&self) -> &str {
        if self.beside { "beside" } else { "as_is" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} is asked for its field, not its type", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(args.arg_fields[0].as_ref().clone().with_name(self.name()).into())
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(arguments.args.swap_remove(0))
    }

    /// `beside` is not strict: a NULL beside a value does not make it NULL.
    fn is_strict(&self) -> bool {
        !self.beside
    }
}
