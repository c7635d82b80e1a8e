//! Statistics of an IPC stream, without decoding it.

use arrow::ipc::CompressionType;
use bytes::Bytes;

use super::{Error, IpcMessage, header_of, lz4, malformed, messages};
use crate::encoding::Encodings;

/// Statistics of an IPC stream. A decoder allocates what the stream says, so that is to be known before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    pub batches: u64,
    pub rows: u64,
    pub memory_bytes: u64,
}

impl Shape {
    /// The memory that its rows take, encoded ones and what they are decoded to.
    pub fn decoded_bytes(&self, encodings: &Encodings) -> u64 {
        self.memory_bytes.saturating_add(encodings.decoded_bytes(self.rows))
    }
}

/// Looks at a stream without decoding it.
pub fn shape(stream: &Bytes) -> Result<Shape, Error> {
    let mut shape = Shape::default();
    for message in messages(stream)? {
        let Shape { batches, rows, memory_bytes } = of_message(&message)?;
        shape.batches += batches;
        shape.rows = shape.rows.saturating_add(rows);
        shape.memory_bytes = shape.memory_bytes.saturating_add(memory_bytes);
    }
    Ok(shape)
}

pub(super) fn of_message(IpcMessage { metadata, body }: &IpcMessage) -> Result<Shape, Error> {
    let header = header_of(metadata)?;
    let mut shape = Shape::default();
    if let Some(batch) = header.header_as_record_batch() {
        shape.batches = 1;
        shape.rows = u64::try_from(batch.length()).map_err(|_| malformed("a negative length"))?;
    }
    let dictionary = header.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = header.header_as_record_batch().or(dictionary) else { return Ok(shape) };
    let codec = batch.compression().map(|compression| compression.codec());
    for buffer in batch.buffers().into_iter().flatten() {
        let bytes = buffer_bytes(body, buffer, codec)?;
        shape.memory_bytes = shape.memory_bytes.saturating_add(bytes);
    }
    Ok(shape)
}

/// The memory that a buffer will take: of a compressed one its first eight bytes say it.
fn buffer_bytes(
    body: &[u8],
    buffer: &arrow::ipc::Buffer,
    codec: Option<CompressionType>,
) -> Result<u64, Error> {
    let beyond = |_| malformed("a buffer beyond its body");
    let start = usize::try_from(buffer.offset()).map_err(beyond)?;
    let bytes = usize::try_from(buffer.length()).map_err(beyond)?;
    let end = start.saturating_add(bytes);
    let buffer = body.get(start..end).ok_or_else(|| malformed("a buffer beyond its body"))?;
    let Some(codec) = codec.filter(|_| bytes > 0) else { return Ok(bytes as u64) };
    let (length, packed) = buffer.split_first_chunk::<8>().ok_or(Error::Truncated)?;
    match u64::try_from(i64::from_le_bytes(*length)) {
        // It was left as it is: it takes no more than is here.
        Err(_) => Ok(bytes as u64),
        // Who lies about it is found out only when all of it is unpacked. Of an honest one no more than a block is
        // not full.
        Ok(length) if codec == CompressionType::LZ4_FRAME => {
            let bytes_max = lz4::unpacked_bytes_max(packed);
            Ok(length.max(bytes_max.saturating_sub(lz4::BLOCK_BYTES_MAX)))
        }
        Ok(length) => Ok(length),
    }
}
