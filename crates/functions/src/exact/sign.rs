//! `sign(x)`, also called `signum`: -1, 0 or 1. That of NaN is 0, as in PostgreSQL and DuckDB; DataFusion's is NaN.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Sign {
    signature: Signature,
    aliases: Vec<String>,
}

impl Sign {
    pub fn new() -> Self {
        let kinds = vec![DataType::Float64, DataType::Float32];
        let signature = Signature::uniform(1, kinds, Volatility::Immutable);
        Self { signature, aliases: vec!["signum".into()] }
    }
}

impl ScalarUDFImpl for Sign {
    fn name(&self) -> &str {
        "sign"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(signs, vec![])(&arguments.args)
    }
}

fn signs(columns: &[ArrayRef]) -> Result<ArrayRef> {
    macro_rules! floats {
        ($kind:ty) => {{
            let sign = |x| f32::from(i8::from(x > 0.0) - i8::from(x < 0.0)).into();
            Arc::new(columns[0].as_primitive::<$kind>().unary::<_, $kind>(sign)) as ArrayRef
        }};
    }
    Ok(match columns[0].data_type() {
        DataType::Float32 => floats!(Float32Type),
        _ => floats!(Float64Type),
    })
}
