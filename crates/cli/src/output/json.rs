//! Results as JSON: an array of objects, or an object a line.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, WriterBuilder};

use super::Writer;

pub struct JsonWriter<W: Write, F: JsonFormat> {
    out: arrow::json::Writer<W, F>,
}

impl<W: Write> JsonWriter<W, JsonArray> {
    pub fn array(out: W) -> Self {
        Self { out: WriterBuilder::new().with_explicit_nulls(true).build(out) }
    }
}

impl<W: Write> JsonWriter<W, LineDelimited> {
    pub fn lines(out: W) -> Self {
        Self { out: WriterBuilder::new().with_explicit_nulls(true).build(out) }
    }
}

impl<W: Write, F: JsonFormat> Writer for JsonWriter<W, F> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.out.write(batch).map_err(into_io)?;
        self.out.get_mut().flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.finish().map_err(into_io)?;
        let mut out = self.out.into_inner();
        writeln!(out)?;
        out.flush()
    }
}

/// Keeps the kind of the error: a closed pipe must stay one.
fn into_io(error: arrow::error::ArrowError) -> io::Error {
    match error {
        arrow::error::ArrowError::IoError(_, source) => source,
        other => io::Error::other(other),
    }
}
