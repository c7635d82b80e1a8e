//! Rows of a result that waits for its turn: in memory, and beyond a bound in a file without a name.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use caudal_core::limits;

#[derive(Default)]
pub struct Held {
    batches: Vec<RecordBatch>,
    bytes: usize,
    /// What came before.
    file: Option<StreamWriter<BufWriter<File>>>,
}

impl Held {
    pub fn push(&mut self, batch: RecordBatch) -> io::Result<()> {
        self.bytes += batch.get_array_memory_size();
        self.batches.push(batch);
        match self.bytes > limits::RESULT_WAITING_BYTES_MAX {
            true => self.spill().map_err(in_a_temporary_file),
            false => Ok(()),
        }
    }

    /// Gives all of it back, in its order.
    pub fn each(self, mut give: impl FnMut(&RecordBatch) -> io::Result<()>) -> io::Result<()> {
        if let Some(file) = self.file {
            let batches = read_back(file).map_err(|error| in_a_temporary_file(error.into()))?;
            for batch in batches {
                give(&batch.map_err(|error| in_a_temporary_file(error.into()))?)?;
            }
        }
        self.batches.iter().try_for_each(give)
    }

    fn spill(&mut self) -> Result<(), Trouble> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let schema = self.batches[0].schema();
                let file = BufWriter::new(tempfile::tempfile()?);
                self.file.insert(StreamWriter::try_new(file, &schema)?)
            }
        };
        for batch in self.batches.drain(..) {
            file.write(&compact(&batch)?)?;
        }
        self.bytes = 0;
        Ok(())
    }
}

fn read_back(
    file: StreamWriter<BufWriter<File>>,
) -> Result<StreamReader<BufReader<File>>, ArrowError> {
    let file = file.into_inner()?;
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    StreamReader::try_new(BufReader::new(file), None)
}

/// Texts may be views into much that is not theirs, all of which would be written.
fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let compact = |column: &ArrayRef| -> ArrayRef {
        match column.data_type() {
            DataType::Utf8View => Arc::new(column.as_string_view().gc()),
            DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
            _ => Arc::clone(column),
        }
    };
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().iter().map(compact).collect();
    RecordBatch::try_new_with_options(SchemaRef::clone(batch.schema_ref()), columns, &rows)
}

/// An error of the file, or of what is written to it.
struct Trouble(io::Error);

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

impl From<ArrowError> for Trouble {
    fn from(error: ArrowError) -> Self {
        Self(super::into_io(error))
    }
}

fn in_a_temporary_file(Trouble(error): Trouble) -> io::Error {
    let folder = std::env::temp_dir();
    io::Error::new(error.kind(), format!("a temporary file in {}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringViewArray};

    use super::*;

    #[test]
    fn what_is_held_comes_back_in_its_order() {
        let text = "a text that is too long to be in its view ".repeat(100);
        let batch = |from: i64| {
            let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + 1000));
            let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(
                (from..from + 1000).map(|n| format!("{n} {text}")),
            ));
            RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap()
        };
        for batches in [0, 1, 12] {
            let all: Vec<_> = (0..batches).map(|at| batch(at * 1000)).collect();
            let mut held = Held::default();
            for batch in &all {
                // Of two that share their texts.
                held.push(batch.slice(0, 400)).unwrap();
                held.push(batch.slice(400, 600)).unwrap();
            }
            assert_eq!(held.file.is_some(), batches == 12);
            let mut back = vec![];
            held.each(|batch| {
                back.push(batch.clone());
                Ok(())
            })
            .unwrap();
            let rows = |batches: &[RecordBatch]| {
                let schema = batch(0).schema();
                arrow::compute::concat_batches(&schema, batches).unwrap()
            };
            assert_eq!(rows(&back), rows(&all));
        }
    }
}
