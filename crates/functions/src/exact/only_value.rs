//! `only_value(value, rows)`: the value of a scalar subquery; an error if it has more rows than one.
//!
//! Where it stands says which rows need the value: of a CASE that takes another branch nobody asks how many there are.

use arrow::array::AsArray;
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct OnlyValue {
    signature: Signature,
}

impl OnlyValue {
    pub fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for OnlyValue {
    fn name(&self) -> &str {
        "only_value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} is asked for its field, not its type", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let field = args.arg_fields[0].as_ref().clone();
        Ok(field.with_name(self.name()).with_nullable(true).into())
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.args[1].to_array(arguments.number_rows)?;
        let rows = rows.as_primitive::<Int64Type>();
        if rows.iter().flatten().any(|rows| rows > 1) {
            return exec_err!("a scalar subquery gave more than one row");
        }
        Ok(arguments.args.swap_remove(0))
    }

    /// A number of rows that is NULL says that there are none; the value is NULL by itself then.
    fn is_strict(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::datatypes::Field;
    use datafusion::config::ConfigOptions;

    use super::*;

    fn asked(rows: Vec<Option<i64>>) -> Result<ColumnarValue> {
        let number_rows = rows.len();
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(7); number_rows]));
        let rows: ArrayRef = Arc::new(Int64Array::from(rows));
        let field = Arc::new(Field::new("x", DataType::Int64, true));
        OnlyValue::new().invoke_with_args(ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(values), ColumnarValue::Array(rows)],
            arg_fields: vec![Arc::clone(&field), Arc::clone(&field)],
            number_rows,
            return_field: field,
            config_options: Arc::new(ConfigOptions::default()),
        })
    }

    #[test]
    fn a_second_row_is_an_error() {
        assert!(asked(vec![Some(1), None, Some(0)]).is_ok());
        assert!(asked(vec![]).is_ok());
        assert!(asked(vec![Some(1), Some(2)]).is_err());
    }
}
