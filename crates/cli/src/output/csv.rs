//! Results as CSV.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::Writer;
use super::cells::Cells;

pub struct CsvWriter<W: Write> {
    out: csv::Writer<W>,
}

impl<W: Write> CsvWriter<W> {
    pub fn new(schema: &SchemaRef, delimiter: u8, out: W) -> io::Result<Self> {
        let mut out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        out.write_record(schema.fields().iter().map(|field| field.name())).map_err(into_io)?;
        Ok(Self { out })
    }
}

impl<W: Write> Writer for CsvWriter<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let cells = Cells::of(batch).map_err(io::Error::other)?;
        for row in 0..batch.num_rows() {
            self.out.write_record(cells.row(row)?).map_err(into_io)?;
        }
        // A row that is known is shown: whoever reads the pipe may be waiting for it.
        self.out.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// Keeps the kind of the error: a closed pipe must stay one.
fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}
