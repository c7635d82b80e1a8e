//! Bytes that come in their order, in whatever encoding, as UTF-8.

use std::io::{self, Cursor, ErrorKind, Read};

use crate::encoding::Encoding;
use crate::input::Input;

/// What comes, in UTF-8; a byte order mark stays.
pub fn decoded(mut input: Input, encoding: Encoding) -> io::Result<Input> {
    const MARK_BYTES: u64 = 2;
    if encoding == Encoding::Utf8 {
        return Ok(input);
    }
    let mut mark = Vec::new();
    (&mut input).take(MARK_BYTES).read_to_end(&mut mark)?;
    let encoding = encoding.of_file(&mark);
    let input = Box::new(Cursor::new(mark).chain(input));
    Ok(Box::new(Decoded { input, encoding, before: vec![], raw: vec![], text: vec![], at: 0 }))
}

struct Decoded {
    input: Input,
    encoding: Encoding,
    /// The last unit that has become text.
    before: Vec<u8>,
    /// What has not: to be whole, a character may need the next unit.
    raw: Vec<u8>,
    text: Vec<u8>,
    /// How much of the text has been handed on.
    at: usize,
}

const PIECE_BYTES: usize = 64 << 10;

impl Decoded {
    /// Makes more text, or none at the end.
    fn refill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.at = 0;
        let unit = self.encoding.unit_bytes();
        while self.text.is_empty() {
            let held = self.raw.len();
            self.raw.resize(held + PIECE_BYTES, 0);
            let read = read(&mut self.input, &mut self.raw[held..]);
            self.raw.truncate(held + *read.as_ref().unwrap_or(&0));
            let is_last = read? == 0;
            if is_last && self.raw.is_empty() {
                break;
            }
            let whole = self.raw.len() / unit * unit;
            let end = if is_last { self.raw.len() } else { whole.saturating_sub(unit) };
            let (piece, after) = self.raw.split_at(end);
            self.encoding.decode(&self.before, piece, after, &mut self.text);
            if end >= unit {
                self.before = piece[end - unit..].to_vec();
            }
            self.raw.drain(..end);
        }
        Ok(())
    }
}

fn read(input: &mut Input, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.refill()?;
        }
        let len = buffer.len().min(self.text.len() - self.at);
        buffer[..len].copy_from_slice(&self.text[self.at..][..len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives few bytes at a time.
    struct Slow(Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(self.1);
            self.0.read(&mut buffer[..len])
        }
    }

    fn text(bytes: Vec<u8>, encoding: Encoding, at_a_time: usize) -> Vec<u8> {
        let mut text = vec![];
        let slow = Box::new(Slow(Cursor::new(bytes), at_a_time));
        decoded(slow, encoding).unwrap().read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn half_a_unit_at_the_end_is_no_text() {
        assert_eq!(text(b"a\0b".to_vec(), Encoding::Utf16, 1), b"a\xff");
        assert_eq!(text(b"x".to_vec(), Encoding::Utf16, 1), b"\xff");
        assert_eq!(text(vec![], Encoding::Utf16, 1), b"");
    }

    proptest! {
        #[test]
        fn text_is_the_same_however_it_comes(content in "[ -~ñ€😀\n]{0,40}", at_a_time in 1usize..9) {
            let marked = format!("\u{feff}{content}");
            let big: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let little: Vec<u8> = content.encode_utf16().flat_map(u16::to_le_bytes).collect();
            prop_assert_eq!(text(big, Encoding::Utf16, at_a_time), marked.as_bytes());
            prop_assert_eq!(text(little, Encoding::Utf16Le, at_a_time), content.as_bytes());
            let latin: Vec<u8> = content.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
            let expected: String = latin.iter().map(|byte| char::from(*byte)).collect();
            prop_assert_eq!(text(latin, Encoding::Latin1, at_a_time), expected.as_bytes());
        }
    }
}
