//! Text columns whose strings stay in the chunk: an Arrow view points at each.

#![allow(unsafe_code, reason = "views of text that has been checked already")]

use std::sync::Arc;

use arrow::array::{ArrayRef, StringViewArray};
use arrow::buffer::Buffer;
use simdutf8::basic::from_utf8;

use crate::columns::{Misfits, Rows};
use crate::field::{Value, owned_value, unescape, value};
use crate::nulls::Nulls;
use crate::reject::RejectReason;
use crate::syntax::Syntax;

/// Strings up to this length are held by the view itself.
const INLINE_BYTES_MAX: usize = 12;
/// Buffers of a finished array.
const CHUNK: u32 = 0;
const UNESCAPED: u32 = 1;

pub struct TextValues {
    views: Vec<u128>,
    nulls: Nulls,
    /// The strings that are not in the chunk as they are.
    unescaped: Vec<u8>,
    longest_bytes: usize,
}

impl TextValues {
    pub fn new() -> TextValues {
        TextValues {
            views: Vec::new(),
            nulls: Nulls::new(),
            unescaped: Vec::new(),
            longest_bytes: 0,
        }
    }

    pub fn reserve(&mut self, rows: usize) {
        self.views.reserve_exact(rows);
    }

    /// Appends one string a row: NULL for an empty one, and for one that is not UTF-8, which is a misfit.
    pub fn extend(&mut self, rows: &Rows<'_>, field: usize, misfits: &mut Misfits<'_>) {
        let formats = rows.formats;
        match formats.nulls.is_empty() {
            true => self.extend_nullable(rows, field, misfits, |_| false),
            false => self.extend_nullable(rows, field, misfits, |text| formats.is_null(text)),
        }
    }

    #[inline(always)]
    fn extend_nullable(
        &mut self,
        rows: &Rows<'_>,
        field: usize,
        misfits: &mut Misfits<'_>,
        is_null: impl Fn(&[u8]) -> bool,
    ) {
        let syntax = rows.stretch.syntax;
        let mut views = std::mem::take(&mut self.views);
        views.extend(rows.raw_fields(field).enumerate().map(|(row, raw)| {
            if !rows.is_utf8 && from_utf8(raw).is_err() {
                misfits.add(row, RejectReason::invalid_utf8(&owned_value(raw, syntax), raw));
                self.nulls.append(false);
                return 0;
            }
            let view = match value(raw, syntax) {
                Value::InPlace(text) if is_null(text) => 0,
                Value::InPlace(text) => self.view_in_chunk(rows.bytes(), text),
                // As it is in the file: `\N` is a NULL that is written with an escape, `\\N` a text.
                Value::Escaped if is_null(raw) => 0,
                Value::Escaped => self.view_unescaped(raw, syntax),
            };
            self.nulls.append(view != 0);
            view
        }));
        self.views = views;
    }

    #[inline(always)]
    fn view_in_chunk(&mut self, chunk: &[u8], text: &[u8]) -> u128 {
        self.longest_bytes = self.longest_bytes.max(text.len());
        view(chunk, text.as_ptr().addr() - chunk.as_ptr().addr(), text.len(), CHUNK)
    }

    #[cold]
    fn view_unescaped(&mut self, raw: &[u8], syntax: Syntax) -> u128 {
        let begin = self.unescaped.len();
        unescape(raw, syntax, &mut self.unescaped);
        let len = self.unescaped.len() - begin;
        self.longest_bytes = self.longest_bytes.max(len);
        let view = view(&self.unescaped, begin, len, UNESCAPED);
        if len <= INLINE_BYTES_MAX {
            self.unescaped.truncate(begin);
        }
        view
    }

    pub fn finish(self, chunk: &Buffer) -> ArrayRef {
        let buffers: Arc<[Buffer]> = if self.longest_bytes <= INLINE_BYTES_MAX {
            Arc::new([])
        } else if self.unescaped.is_empty() {
            Arc::new([chunk.clone()])
        } else {
            Arc::new([chunk.clone(), Buffer::from_vec(self.unescaped)])
        };
        // SAFETY: each view was made by `view` of a slice within the chunk or within `unescaped`, with
        // the number of that buffer, which is in `buffers` if any view is too long to be inline. Each
        // slice is UTF-8: the stretch, where all that divides it is ASCII, or the raw field has been validated;
        // quotes and escapes are ASCII, and unescaping only takes those away.
        let array = unsafe {
            StringViewArray::new_unchecked(self.views.into(), buffers, self.nulls.finish())
        };
        Arc::new(array)
    }
}

/// The Arrow view of `len` bytes at `at` in buffer number `buffer`; 0 only if `len` is 0.
#[inline(always)]
fn view(bytes: &[u8], at: usize, len: usize, buffer: u32) -> u128 {
    // One load of 16 bytes, rather than a copy of a length that varies.
    let window = match bytes[at..].first_chunk::<16>() {
        Some(window) => u128::from_le_bytes(*window),
        None => window_at_end(&bytes[at..]),
    };
    if len <= INLINE_BYTES_MAX {
        let text = window & !(u128::MAX << (8 * len));
        text << 32 | len as u128
    } else {
        let prefix = window as u32;
        (at as u128) << 96 | u128::from(buffer) << 64 | u128::from(prefix) << 32 | len as u128
    }
}

#[cold]
fn window_at_end(bytes: &[u8]) -> u128 {
    let mut window = [0; 16];
    window[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(window)
}

#[cfg(test)]
mod tests {
    use arrow::array::builder::make_view;

    use super::*;

    #[test]
    fn views_are_those_of_arrow() {
        let bytes = b"the quick brown fox jumps over the lazy dog";
        for at in 0..bytes.len() {
            for len in 0..=bytes.len() - at {
                let expected = make_view(&bytes[at..at + len], 1, at as u32);
                assert_eq!(view(bytes, at, len, 1), expected, "{len} bytes at {at}");
            }
        }
    }
}
