//! `to_real(x)` and `try_to_real(x)`: a float of 32 bits of one of 64. One that is too large is an error, or NULL; DataFusion's cast makes it
//! infinite.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Real {
    tries: bool,
    signature: Signature,
}

impl Real {
    pub fn new(tries: bool) -> Self {
        Self { tries, signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Real {
    fn name(&self) -> &str {
        if self.tries { "try_to_real" } else { "to_real" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float32)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let tries = self.tries;
        make_scalar_function(move |columns| reals(tries, columns), vec![])(&arguments.args)
    }
}

fn reals(tries: bool, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let column = cast(&columns[0], &DataType::Float64)?;
    let numbers = column.as_primitive::<Float64Type>().iter();
    let real = |number: f64| {
        let real = number as f32;
        match real.is_infinite() && number.is_finite() {
            false => Ok(Some(real)),
            true if tries => Ok(None),
            true => Err(ArrowError::ArithmeticOverflow(format!("{number:e} as REAL"))),
        }
    };
    let numbers = numbers.map(|number| number.map_or(Ok(None), real));
    Ok(Arc::new(numbers.collect::<Result<Float32Array, _>>()?))
}
