//! IPC to rows.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::reader::{StreamDecoder, read_dictionary, read_record_batch};
use bytes::Bytes;
use caudal_core::limits;

use super::shape::of_message;
use super::{Error, IpcMessage, header_of, malformed, shape};

/// The batches of a stream.
pub fn decode_batches(stream: Bytes) -> Result<Vec<RecordBatch>, Error> {
    check_memory(shape(&stream)?.memory_bytes)?;
    guarded(|| {
        let mut decoder = StreamDecoder::new();
        let mut buffer = Buffer::from(stream);
        let mut batches = vec![];
        while !buffer.is_empty() {
            batches.extend(decoder.decode(&mut buffer)?);
        }
        decoder.finish()?;
        Ok(batches)
    })
}

/// The only batch of a stream.
pub fn one_batch(stream: Bytes) -> Result<RecordBatch, Error> {
    let mut batches = decode_batches(stream)?;
    match batches.len() {
        1 => Ok(batches.remove(0)),
        count => Err(ArrowError::IpcError(format!("{count} batches instead of one")).into()),
    }
}

/// Messages of a stream as they come one by one: first the schema.
#[derive(Default)]
pub struct Decoder {
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Decoder {
    /// The rows of a message, if it has some.
    pub fn decode(&mut self, message: &IpcMessage) -> Result<Option<RecordBatch>, Error> {
        if message.metadata.is_empty() {
            return Ok(None);
        }
        let header = header_of(&message.metadata)?;
        if let Some(schema) = header.header_as_schema() {
            self.schema = Some(Arc::new(guarded(|| Ok(fb_to_schema(schema)))?));
            return Ok(None);
        }
        let Some(schema) = &self.schema else { return Err(malformed("rows before their schema")) };
        check_memory(of_message(message)?.memory_bytes)?;
        let (body, version) = (Buffer::from(message.body.clone()), header.version());
        let dictionaries = &mut self.dictionaries;
        if let Some(dictionary) = header.header_as_dictionary_batch() {
            guarded(|| read_dictionary(&body, dictionary, schema, dictionaries, &version))?;
            return Ok(None);
        }
        let batch =
            header.header_as_record_batch().ok_or_else(|| malformed("neither schema nor rows"))?;
        let (schema, none) = (Arc::clone(schema), None);
        guarded(|| read_record_batch(&body, batch, schema, dictionaries, none, &version)).map(Some)
    }
}

/// Refuses what would take more memory than any batch may.
pub fn check_memory(bytes: u64) -> Result<(), Error> {
    let bytes_max = limits::BATCH_MEMORY_BYTES_MAX as u64;
    if bytes > bytes_max { Err(Error::TooLarge { bytes, bytes_max }) } else { Ok(()) }
}

/// Decodes what a stranger sent. Arrow panics on some of what it cannot read (a buffer beyond the
/// body, a type of no width): the stranger's mistake, not the end of this process.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Error> {
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    let panicked = |_| ArrowError::IpcError("it is damaged in a way Arrow does not check".into());
    Ok(decoded.map_err(panicked)??)
}
