//! UUIDs as their bytes: nothing else makes what is random smaller.

use std::array::from_fn;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, StringArray, StringViewArray};
use arrow::buffer::{Buffer, MutableBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

const BYTES: usize = 16;
const TEXT_BYTES: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// Where groups of digits are in the text, and where without the hyphens.
const GROUPS: [(usize, usize); 8] =
    [(0, 0), (4, 4), (9, 8), (14, 12), (19, 16), (24, 20), (28, 24), (32, 28)];
const GROUP: usize = 4;

pub const NARROW: DataType = DataType::FixedSizeBinary(BYTES as i32);
/// The text and the view of it.
pub const WIDE_BYTES: u64 = (TEXT_BYTES + size_of::<u128>()) as u64;

/// If there are some, and all of them are UUIDs.
pub fn narrow(column: &ArrayRef) -> Option<ArrayRef> {
    let texts = column.as_string_view();
    texts.iter().flatten().next().and_then(parse)?;
    let mut bytes = MutableBuffer::with_capacity(texts.len() * BYTES);
    for text in texts {
        bytes.extend_from_slice(&text.map_or(Some([0; BYTES]), parse)?);
    }
    let narrowed =
        FixedSizeBinaryArray::try_new(BYTES as i32, bytes.into(), texts.nulls().cloned());
    Some(Arc::new(narrowed.ok()?))
}

pub fn widen(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let uuids = column.as_fixed_size_binary();
    let mut texts = Vec::with_capacity((uuids.len() - uuids.null_count()) * TEXT_BYTES);
    let (bytes, _) = uuids.value_data().as_chunks();
    for (row, uuid) in bytes.iter().enumerate() {
        if uuids.is_valid(row) {
            texts.extend_from_slice(&written(uuid));
        }
    }
    let lengths = (0..uuids.len()).map(|row| TEXT_BYTES * usize::from(uuids.is_valid(row)));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let texts = StringArray::try_new(offsets, Buffer::from_vec(texts), uuids.nulls().cloned())?;
    Ok(Arc::new(StringViewArray::from(&texts)))
}

fn parse(text: &str) -> Option<[u8; BYTES]> {
    let text: &[u8; TEXT_BYTES] = text.as_bytes().try_into().ok()?;
    if HYPHENS.iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let mut digits = [0; 2 * BYTES];
    for (from, to) in GROUPS {
        digits[to..to + GROUP].copy_from_slice(&text[from..from + GROUP]);
    }
    let are_digits = digits.iter().fold(true, |all, digit| all & is_digit(*digit));
    let value = |digit: u8| if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 };
    are_digits.then(|| from_fn(|at| value(digits[2 * at]) << 4 | value(digits[2 * at + 1])))
}

fn is_digit(digit: u8) -> bool {
    (digit.wrapping_sub(b'0') < 10) | (digit.wrapping_sub(b'a') < 6)
}

fn written(uuid: &[u8; BYTES]) -> [u8; TEXT_BYTES] {
    let mut digits = [0; 2 * BYTES];
    for (at, byte) in uuid.iter().enumerate() {
        digits[2 * at] = byte >> 4;
        digits[2 * at + 1] = byte & 0xf;
    }
    for digit in &mut digits {
        *digit += if *digit < 10 { b'0' } else { b'a' - 10 };
    }
    let mut text = [b'-'; TEXT_BYTES];
    for (to, from) in GROUPS {
        text[to..to + GROUP].copy_from_slice(&digits[from..from + GROUP]);
    }
    text
}
