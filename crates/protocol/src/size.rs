//! Sizes of rows by themselves, whatever they share memory with.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;

/// The bytes of a batch's rows. A slice counts what it shows, not what it is a slice of.
pub fn rows_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(array_bytes).sum()
}

fn array_bytes(array: &ArrayRef) -> usize {
    let own = |array: &ArrayRef| array.to_data().get_slice_memory_size();
    match array.data_type() {
        DataType::Utf8View => {
            own(array).unwrap_or(0) + array.as_string_view().total_buffer_bytes_used()
        }
        DataType::BinaryView => {
            own(array).unwrap_or(0) + array.as_binary_view().total_buffer_bytes_used()
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let (first, last) = (list.offsets()[0] as usize, list.offsets()[list.len()] as usize);
            (list.len() + 1) * size_of::<i32>()
                + array_bytes(&list.values().slice(first, last - first))
        }
        // What it cannot tell is counted with all that it shares.
        _ => own(array).unwrap_or_else(|_| array.get_array_memory_size()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, ListArray, StringArray, StringViewArray};
    use arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn a_tenth_of_the_rows_takes_a_tenth() {
        let texts = || (0..1000).map(|_| Some("more than the twelve bytes of a view"));
        let lists = (0..1000).map(|row| Some([Some(row), None, Some(1)]));
        let columns: [ArrayRef; 4] = [
            Arc::new(Int64Array::from_iter_values(0..1000)),
            Arc::new(StringArray::from_iter(texts())),
            Arc::new(StringViewArray::from_iter(texts())),
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
        ];
        for column in columns {
            let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
            let (whole, tenth) = (rows_bytes(&batch), rows_bytes(&batch.slice(500, 100)));
            assert!(whole >= 8000, "{:?}: {whole}", batch.schema());
            assert!(tenth.abs_diff(whole / 10) < 20, "{:?}: {tenth} of {whole}", batch.schema());
        }
    }
}
