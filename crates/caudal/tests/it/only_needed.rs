//! Tables as the most careful reader would send them: without any row that a session's filter rules out. Answers have to be
//! what they are with them.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type, UInt64Type};
use caudal_core::RowFilter;
use caudal_core::row_filter::{Known, Value};

/// Of a table's rows, those that are needed.
pub fn only_needed(batch: &RecordBatch, filter: Option<&RowFilter>) -> RecordBatch {
    let Some(filter) = filter else { return batch.clone() };
    let is_needed = |row| filter.may_hold(&|column| known(batch.column(column), row));
    let needed: BooleanArray = (0..batch.num_rows()).map(|row| Some(is_needed(row))).collect();
    filter_record_batch(batch, &needed).unwrap()
}

/// What is known of one value is all there is to know.
fn known(column: &ArrayRef, row: usize) -> Known {
    let value = value(column, row);
    let nulls = Some(u64::from(column.is_null(row)));
    Known { rows: 1, nulls, min: value.clone(), max: value }
}

fn value(column: &ArrayRef, row: usize) -> Option<Value> {
    if column.is_null(row) {
        return None;
    }
    let column = column.slice(row, 1);
    Some(match column.data_type() {
        DataType::Utf8View => Value::Text(column.as_string_view().value(0).to_string()),
        DataType::Decimal128(..) => Value::Int(column.as_primitive::<Decimal128Type>().value(0)),
        DataType::UInt64 => Value::Int(column.as_primitive::<UInt64Type>().value(0).into()),
        ty if ty.is_floating() => return None,
        _ => Value::Int(
            cast(&column, &DataType::Int64).ok()?.as_primitive::<Int64Type>().value(0).into(),
        ),
    })
}
