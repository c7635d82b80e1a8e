//! Results as Parquet files.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::Writer;

pub struct ParquetWriter<W: Write + Send> {
    out: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub fn new(schema: SchemaRef, out: W) -> io::Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        Ok(Self { out: ArrowWriter::try_new(out, schema, Some(properties))? })
    }
}

impl<W: Write + Send> Writer for ParquetWriter<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        Ok(self.out.write(batch)?)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.close()?;
        Ok(())
    }
}
