//! A result on its way: the writer of its format, over the bytes that it becomes.

use std::io;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::sink::Sink;
use super::{Style, Writer, writer};

pub struct Written {
    writer: Box<dyn Writer>,
    sink: Sink,
}

impl Written {
    pub fn begin(style: Style, schema: SchemaRef, sink: Sink) -> io::Result<Self> {
        let begun = writer(style, schema, sink.clone());
        let writer = begun.map_err(|error| sink.cause(error))?;
        Ok(Self { writer, sink })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.writer.write(batch).map_err(|error| self.sink.cause(error))
    }

    pub fn finish(self) -> io::Result<()> {
        let Self { writer, sink } = self;
        writer.finish().map_err(|error| sink.cause(error))?;
        sink.finish()
    }
}
