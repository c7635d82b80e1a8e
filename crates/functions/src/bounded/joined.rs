//! `checked_concat(a, b)`: what stands in a plan for `a || b` of texts.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::array::RecordBatchOptions;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    ColumnarValue, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};

use super::growth::Growth;

/// `checked_concat`, as it is registered.
pub fn joined() -> ScalarUDF {
    ScalarUDF::new_from_impl(Joined { signature: Signature::any(2, Volatility::Immutable) })
}

/// Not `concat`, to which a NULL is an empty text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Joined {
    signature: Signature,
}

impl ScalarUDFImpl for Joined {
    fn name(&self) -> &str {
        "checked_concat"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let [left, right] = arguments else { return exec_err!("|| has two sides") };
        BinaryTypeCoercer::new(left, &Operator::StringConcat, right).get_result_type()
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Growth::Sum.check("||", &arguments.args, arguments.number_rows)?;
        let mut fields = vec![];
        let mut columns = vec![];
        let mut side = |value: ColumnarValue| -> Arc<dyn PhysicalExpr> {
            match value {
                ColumnarValue::Scalar(value) => Arc::new(Literal::new(value)),
                ColumnarValue::Array(array) => {
                    let name = if columns.is_empty() { "left" } else { "right" };
                    fields.push(Field::new(name, array.data_type().clone(), true));
                    columns.push(array);
                    Arc::new(Column::new(name, columns.len() - 1))
                }
            }
        };
        let sides: Vec<_> = arguments.args.into_iter().map(&mut side).collect();
        let [left, right] = sides.as_slice() else { return exec_err!("|| has two sides") };
        let joined = BinaryExpr::new(Arc::clone(left), Operator::StringConcat, Arc::clone(right));
        let options = RecordBatchOptions::new().with_row_count(Some(arguments.number_rows));
        let schema = Arc::new(Schema::new(fields));
        joined.evaluate(&RecordBatch::try_new_with_options(schema, columns, &options)?)
    }
}
