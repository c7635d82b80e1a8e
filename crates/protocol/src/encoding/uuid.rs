//! UUIDs as their bytes: nothing else makes what is random smaller.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, StringArray, StringViewArray};
use arrow::buffer::{Buffer, MutableBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

const BYTES: usize = 16;
const TEXT_BYTES: usize = Hyphenated::LENGTH;

pub const ENCODED: DataType = DataType::FixedSizeBinary(BYTES as i32);
/// The text and the view of it.
pub const DECODED_BYTES: u64 = (TEXT_BYTES + size_of::<u128>()) as u64;

/// If there are some, and all of them are UUIDs.
pub fn encode(column: &ArrayRef) -> Option<ArrayRef> {
    let texts = column.as_string_view();
    texts.iter().flatten().next().and_then(parse)?;
    let mut bytes = MutableBuffer::with_capacity(texts.len() * BYTES);
    for text in texts {
        bytes.extend_from_slice(&text.map_or(Some([0; BYTES]), parse)?);
    }
    let encoded = FixedSizeBinaryArray::try_new(BYTES as i32, bytes.into(), texts.nulls().cloned());
    Some(Arc::new(encoded.ok()?))
}

pub fn decode(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let uuids = column.as_fixed_size_binary();
    let mut texts = Vec::with_capacity((uuids.len() - uuids.null_count()) * TEXT_BYTES);
    let (bytes, _) = uuids.value_data().as_chunks();
    for (row, uuid) in bytes.iter().enumerate() {
        if uuids.is_valid(row) {
            texts.extend_from_slice(&written(*uuid));
        }
    }
    let lengths = (0..uuids.len()).map(|row| TEXT_BYTES * usize::from(uuids.is_valid(row)));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let texts = StringArray::try_new(offsets, Buffer::from_vec(texts), uuids.nulls().cloned())?;
    Ok(Arc::new(StringViewArray::from(&texts)))
}

fn parse(text: &str) -> Option<[u8; BYTES]> {
    let bytes = Uuid::try_parse(text).ok()?.into_bytes();
    // There are other ways to write the same one.
    (written(bytes) == text.as_bytes()).then_some(bytes)
}

fn written(bytes: [u8; BYTES]) -> [u8; TEXT_BYTES] {
    let mut text = [0; TEXT_BYTES];
    Uuid::from_bytes(bytes).hyphenated().encode_lower(&mut text);
    text
}
