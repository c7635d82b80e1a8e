//! `sqrt`, `ln`, `acos` and others of a part of all numbers, saying nothing of the order of their results.
//!
//! DataFusion's are an error where somebody asks for it and it is not known that all arguments are of that part: so a sort by
//! them was taken for no sort, and its plan refused.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::functions::math;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Unordered {
    inner: ScalarUDF,
}

impl Unordered {
    /// All that there are.
    pub fn all() -> impl Iterator<Item = Self> {
        let functions = [
            math::acos(),
            math::acosh(),
            math::asin(),
            math::atanh(),
            math::ln(),
            math::log2(),
            math::log10(),
            math::sqrt(),
        ];
        functions.into_iter().map(|function| Self { inner: function.as_ref().clone() })
    }
}

impl ScalarUDFImpl for Unordered {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.inner.invoke_with_args(arguments)
    }

    fn is_strict(&self) -> bool {
        true
    }
}
