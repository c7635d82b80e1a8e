//! Results as Parquet: row groups of bounded size, so that a result of any length takes bounded memory.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Writer;
use super::names::told_apart;
use super::plain::{plain_batch, plain_schema};

pub struct ParquetWriter<W: Write + Send> {
    /// A file has each name once.
    schema: SchemaRef,
    out: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub fn new(schema: &SchemaRef, out: W) -> io::Result<Self> {
        let schema = plain_schema(&told_apart(schema));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(limits::PARQUET_ROW_GROUP_ROWS_MAX))
            .set_max_row_group_bytes(Some(limits::PARQUET_ROW_GROUP_BYTES_MAX))
            .build();
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
        self.out.into_inner()?.flush()
    }
}
