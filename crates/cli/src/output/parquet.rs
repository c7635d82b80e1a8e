//! Results as Parquet files.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::plain::{plain_batch, plain_schema};
use super::{Writer, told_apart};

pub struct ParquetWriter<W: Write + Send> {
    /// A file has each name once.
    schema: SchemaRef,
    out: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub fn new(schema: &SchemaRef, out: W) -> io::Result<Self> {
        let schema = plain_schema(&told_apart(schema));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let out = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
        Ok(Self { schema, out })
    }
}

impl<W: Write + Send> Writer for ParquetWriter<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let batch = plain_batch(batch, &self.schema).map_err(io::Error::other)?;
        Ok(self.out.write(&batch)?)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.close()?;
        Ok(())
    }
}
