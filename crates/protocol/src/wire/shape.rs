//! Statistics of an IPC stream, without decoding it.

use arrow::error::ArrowError;
use arrow::ipc::{CompressionType, root_as_message};
use bytes::Bytes;

use super::{Error, take};
use crate::encoding::Encodings;
use crate::lz4;

const CONTINUATION: [u8; 4] = [0xff; 4];

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
    let mut rest = stream.clone();
    while !rest.is_empty() {
        let mut length = take(&mut rest, 4)?;
        if *length == CONTINUATION {
            length = take(&mut rest, 4)?;
        }
        let length = u32::from_le_bytes(length[..].try_into().expect("four bytes"));
        if length == 0 {
            break;
        }
        let metadata = take(&mut rest, u64::from(length))?;
        let message = root_as_message(&metadata).map_err(|error| malformed(&error.to_string()))?;
        let body_bytes =
            u64::try_from(message.bodyLength()).map_err(|_| malformed("a negative length"))?;
        let body = take(&mut rest, body_bytes)?;
        if let Some(batch) = message.header_as_record_batch() {
            shape.batches += 1;
            let rows = u64::try_from(batch.length()).map_err(|_| malformed("a negative length"))?;
            shape.rows = shape.rows.saturating_add(rows);
        }
        let dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
        let Some(batch) = message.header_as_record_batch().or(dictionary) else { continue };
        for buffer in batch.buffers().into_iter().flatten() {
            let codec = batch.compression().map(|compression| compression.codec());
            let bytes = buffer_bytes(&body, buffer, codec)?;
            shape.memory_bytes = shape.memory_bytes.saturating_add(bytes);
        }
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

fn malformed(what: &str) -> Error {
    Error::Arrow(ArrowError::IpcError(what.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
    use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::super::tests::batch;
    use super::super::{decode_batches, encode_batches};
    use super::*;
    use caudal_core::limits;

    #[test]
    fn a_buffer_that_claims_too_much_memory_is_refused_before_it_is_allocated() {
        let honest = encode_batches(&[batch()]).unwrap();
        let claim = (8000_i64).to_le_bytes();
        let at = honest.windows(8).position(|bytes| bytes == claim).unwrap();
        let mut lying = honest.to_vec();
        lying[at..at + 8].copy_from_slice(&(1_i64 << 60).to_le_bytes());
        assert!(matches!(decode_batches(lying.into()), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn a_buffer_that_unpacks_to_far_more_than_it_says_is_refused_before_it_is_unpacked() {
        let bytes = limits::BATCH_MEMORY_BYTES_MAX + (16 << 20);
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(bytes)]));
        let batch = RecordBatch::try_from_iter([("t", text)]).unwrap();
        let options = IpcWriteOptions::default();
        let options = options.try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
        let mut writer =
            StreamWriter::try_new_with_options(vec![], &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let mut lying = writer.into_inner().unwrap();
        // Not the same number among the offsets: what precedes a frame.
        let frame = 0x184D_2204_u32.to_le_bytes();
        let claim = [&(bytes as i64).to_le_bytes()[..], &frame].concat();
        let at = lying.windows(claim.len()).position(|bytes| bytes == claim).unwrap();
        lying[at..at + 8].copy_from_slice(&4096_i64.to_le_bytes());
        assert!(matches!(decode_batches(lying.into()), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn memory_is_known_before_it_is_taken() {
        let batch = batch();
        let rows: usize =
            batch.columns().iter().map(|c| c.to_data().get_slice_memory_size().unwrap()).sum();
        let compressed = encode_batches(std::slice::from_ref(&batch)).unwrap();
        let mut plain = StreamWriter::try_new(vec![], &batch.schema()).unwrap();
        plain.write(&batch).unwrap();
        let plain: Bytes = plain.into_inner().unwrap().into();
        assert!(compressed.len() < plain.len() * 3 / 4, "{} and {}", compressed.len(), plain.len());
        for stream in [compressed, plain] {
            let told = shape(&stream).unwrap().memory_bytes as usize;
            assert!((rows..rows + 1000).contains(&told), "{told} for {rows}");
        }
    }
}
