//! Columns that files do not have themselves: the same value, or NULL, in all rows of a file.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use caudal_csv::Note;

use crate::error::Error;
use crate::lanes::Chunks;
use crate::source::{Chunk, Parsed};

/// How a file's rows are made into those of its table.
#[derive(Debug)]
pub struct Fill {
    pub schema: SchemaRef,
    /// Of each column but the position, which comes last.
    pub columns: Vec<Filled>,
}

/// Where a column's values are from.
#[derive(Clone, Debug)]
pub enum Filled {
    /// The file's rows, by the place in them.
    Own(usize),
    /// This one.
    Constant(ArrayRef),
}

impl Filled {
    pub fn null(ty: &DataType) -> Filled {
        Filled::Constant(new_null_array(ty, 1))
    }
}

impl Fill {
    fn fill(&self, parsed: Parsed) -> Result<Parsed, ArrowError> {
        let (own, rows) = (&parsed.batch, parsed.batch.num_rows());
        let mut columns = vec![];
        for column in &self.columns {
            columns.push(match column {
                Filled::Own(at) => Arc::clone(own.column(*at)),
                Filled::Constant(value) => take(value, &UInt32Array::from(vec![0; rows]), None)?,
            });
        }
        if self.schema.fields().len() > columns.len() {
            columns.extend(own.columns().last().cloned());
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options)?;
        Ok(Parsed { batch, ..parsed })
    }

    fn after(self: &Arc<Fill>, chunk: Chunk) -> Chunk {
        let fill = Arc::clone(self);
        let broken = |error: ArrowError| Error::Broken(error.to_string());
        chunk.then(move |parsed| fill.fill(parsed).map_err(broken))
    }
}

/// Chunks of one file, filled up if there is something to be.
pub fn filled(chunks: Arc<dyn Chunks>, fill: Option<&Arc<Fill>>) -> Arc<dyn Chunks> {
    match fill {
        None => chunks,
        Some(fill) => Arc::new(OneFile { chunks, fill: Arc::clone(fill) }),
    }
}

#[derive(Debug)]
struct OneFile {
    chunks: Arc<dyn Chunks>,
    fill: Arc<Fill>,
}

impl Chunks for OneFile {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        Ok(self.chunks.next_chunk()?.map(|chunk| self.fill.after(chunk)))
    }

    fn notes(&self) -> Vec<Note> {
        self.chunks.notes()
    }
}

/// Chunks of several files, each of which is filled up in its own way.
#[derive(Debug)]
pub struct ManyFiles {
    pub chunks: Box<dyn Chunks>,
    pub fills: Vec<Arc<Fill>>,
}

impl Chunks for ManyFiles {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let next = self.chunks.next_chunk()?;
        Ok(next.map(|chunk| self.fills[chunk.file()].after(chunk)))
    }

    fn notes(&self) -> Vec<Note> {
        self.chunks.notes()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array, StringViewArray};
    use arrow::datatypes::{Field, Int64Type, Schema};

    use super::*;

    #[test]
    fn what_is_not_there_is_the_same_in_all_rows() {
        let field = |name: &str, ty| Field::new(name, ty, true);
        let schema = Arc::new(Schema::new(vec![
            field("text", DataType::Utf8View),
            field("n", DataType::Int64),
            field("none", DataType::Int64),
        ]));
        let text: ArrayRef = Arc::new(StringViewArray::from(vec!["a text beyond twelve bytes"]));
        let columns = vec![Filled::Constant(text), Filled::Own(0), Filled::null(&DataType::Int64)];
        let fill = Fill { schema, columns };
        for rows in [0, 3] {
            let n: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
            let batch = RecordBatch::try_from_iter([("n", n)]).unwrap();
            let parsed = fill.fill(Parsed { batch, bytes: 7, rejects: vec![] }).unwrap();
            let filled = parsed.batch;
            assert_eq!((filled.num_rows() as i64, parsed.bytes), (rows, 7));
            let texts = filled.column(0).as_string_view();
            assert!(texts.iter().all(|text| text == Some("a text beyond twelve bytes")));
            assert!(
                filled
                    .column(1)
                    .as_primitive::<Int64Type>()
                    .values()
                    .iter()
                    .eq(&(0..rows).collect::<Vec<_>>())
            );
            assert_eq!(filled.column(2).null_count() as i64, rows);
        }
    }
}
