//! Sizes of rows by themselves, whatever they share memory with: those of a dictionary share much.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::DataType;

/// About the bytes that a batch's rows would take alone.
pub fn rows_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(array_bytes).sum()
}

/// The same for an array. It depends on its values alone, not on how they came to be where they are.
pub fn array_bytes(array: &ArrayRef) -> usize {
    let views = size_of::<u128>() * array.len();
    match array.data_type() {
        DataType::Utf8View => views + array.as_string_view().total_buffer_bytes_used(),
        DataType::BinaryView => views + array.as_binary_view().total_buffer_bytes_used(),
        DataType::Struct(_) => array.as_struct().columns().iter().map(array_bytes).sum(),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let (first, last) = (list.offsets()[0] as usize, list.offsets()[list.len()] as usize);
            size_of_val(&list.offsets()[..])
                + array_bytes(&list.values().slice(first, last - first))
        }
        _ => array.to_data().get_slice_memory_size().unwrap_or(views),
    }
}

/// A batch whose texts keep nothing in memory but themselves.
pub fn alone(batch: &RecordBatch) -> RecordBatch {
    let column = |array: &ArrayRef| -> ArrayRef {
        match array.data_type() {
            DataType::Utf8View => Arc::new(array.as_string_view().gc()),
            DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
            _ => Arc::clone(array),
        }
    };
    let columns = batch.columns().iter().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
        .expect("the same types and lengths")
}

/// A batch as slices of about so many bytes, none of them without rows.
pub fn slices(batch: RecordBatch, bytes: usize) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    let parts = rows_bytes(&batch).div_ceil(bytes.max(1)).max(1);
    let rows_of_each = rows.div_ceil(parts).max(1);
    (0..rows).step_by(rows_of_each).map(move |at| batch.slice(at, rows_of_each.min(rows - at)))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringViewArray};

    use super::*;

    #[test]
    fn slices_are_all_of_it() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let rows =
            |bytes| slices(batch.clone(), bytes).map(|slice| slice.num_rows()).collect::<Vec<_>>();
        assert_eq!(rows(1 << 20), [1000]);
        assert_eq!(rows(4000), [500, 500]);
        assert_eq!(rows(3000), [334, 334, 332]);
        assert_eq!(rows(0).len(), 1000);
        assert_eq!(slices(batch.slice(0, 0), 10).count(), 0);
    }

    #[test]
    fn few_rows_keep_little_in_memory() {
        let texts = StringViewArray::from_iter_values((0..1000).map(|n| format!("{n:0100}")));
        let texts: ArrayRef = Arc::new(texts);
        let batch = RecordBatch::try_from_iter([("t", texts)]).unwrap().slice(500, 3);
        let few = alone(&batch);
        assert_eq!(few, batch);
        assert!(few.get_array_memory_size() < 2000 && batch.get_array_memory_size() > 100_000);
    }
}
