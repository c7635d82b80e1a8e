//! Rows that leave a fragment must not keep the whole fragment alive.
//!
//! Text columns are views into the file's own bytes. A handful of rows that pass a filter would
//! hold on to megabytes, in memory and on the wire, so what is kept is copied out when it is little.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::DataType;

/// A batch that holds at most about twice the memory its rows need.
pub fn compact(batch: RecordBatch) -> RecordBatch {
    if !batch.columns().iter().any(|column| holds_views(column.data_type())) {
        return batch;
    }
    let columns = batch.columns().iter().map(compact_array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
        .expect("as many columns of the same types and lengths")
}

fn holds_views(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8View | DataType::BinaryView => true,
        DataType::List(field) => holds_views(field.data_type()),
        _ => false,
    }
}

fn compact_array(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => {
            let views = array.as_string_view();
            let used = views.total_buffer_bytes_used();
            let held: usize = views.data_buffers().iter().map(|buffer| buffer.capacity()).sum();
            if held > used.saturating_mul(2) { Arc::new(views.gc()) } else { Arc::clone(array) }
        }
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        DataType::List(field) if holds_views(field.data_type()) => {
            let list = array.as_list::<i32>();
            let values = compact_array(list.values());
            Arc::new(ListArray::new(
                Arc::clone(field),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            ))
        }
        _ => Arc::clone(array),
    }
}
