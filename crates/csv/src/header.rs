//! The first record of a file: the names of its columns.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memchr_iter;

use crate::error::Error;
use crate::field::{owned_value, without_cr};
use crate::index::Index;

#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    pub names: Vec<String>,
    /// Offset at which the records begin.
    pub body_at: usize,
    /// The physical line on which they do, counted from 1.
    pub body_line: u64,
}

/// Reads the header of a file: its first line that is not blank.
pub fn read_header(path: &Path, record_bytes_max: usize) -> Result<Header, Error> {
    // Asked before it is opened: opening a pipe waits for its writer.
    if !path.metadata().map_err(|error| Error::read(path, error))?.is_file() {
        return Err(Error::NotAFile(path.to_path_buf()));
    }
    let mut file = File::open(path).map_err(|error| Error::read(path, error))?;
    Ok(header_of(&mut file, path, record_bytes_max)?.0)
}

/// The header of what comes, and all that has been read to find it.
pub fn header_of(
    input: &mut dyn Read,
    path: &Path,
    record_bytes_max: usize,
) -> Result<(Header, Vec<u8>), Error> {
    const FIRST_READ_BYTES: usize = 64 << 10;
    let mut bytes = Vec::new();
    let mut wanted_bytes = FIRST_READ_BYTES.min(record_bytes_max);
    loop {
        let missing = wanted_bytes - bytes.len();
        let read = input.take(missing as u64).read_to_end(&mut bytes);
        let at_end = read.map_err(|error| Error::read(path, error))? < missing;
        if let Some(header) = find_header(&bytes) {
            return Ok((header, bytes));
        }
        if at_end {
            return header_without_newline(path, bytes);
        }
        if wanted_bytes == record_bytes_max {
            return Err(Error::RecordTooLong {
                file: path.to_path_buf(),
                line: 1,
                limit_bytes: record_bytes_max,
                quote_line: None,
            });
        }
        wanted_bytes = (2 * wanted_bytes).min(record_bytes_max);
    }
}

fn header_without_newline(path: &Path, mut bytes: Vec<u8>) -> Result<(Header, Vec<u8>), Error> {
    let file_bytes = bytes.len();
    bytes.push(b'\n');
    if let Some(header) = find_header(&bytes) {
        bytes.pop();
        return Ok((Header { body_at: file_bytes, ..header }, bytes));
    }
    let is_blank =
        bytes.strip_prefix(BOM).unwrap_or(&bytes).iter().all(|byte| b"\r\n".contains(byte));
    Err(if is_blank { Error::Empty(path.into()) } else { Error::UnclosedHeader(path.into()) })
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The header at the start of a file, if `bytes` hold it to its end.
fn find_header(bytes: &[u8]) -> Option<Header> {
    let text = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut index = Index::new(text);
    while let Some(stretch) = index.next_stretch() {
        let is_record = |(first, fields): &(u32, usize)| !stretch.is_blank(*first, *fields);
        let Some((first, fields)) = stretch.records().find(is_record) else {
            continue;
        };
        let name = |i: usize| {
            let raw = stretch.raw_field(first as usize + i);
            let raw = if i + 1 == fields { without_cr(raw) } else { raw };
            String::from_utf8_lossy(&owned_value(raw)).into_owned()
        };
        let header_end = stretch.starts[first as usize + fields] as usize;
        return Some(Header {
            names: (0..fields).map(name).collect(),
            body_at: bytes.len() - text.len() + header_end,
            body_line: 1 + memchr_iter(b'\n', &text[..header_end]).count() as u64,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use caudal_core::{Coded, codes};

    use super::*;

    fn header_of(content: &[u8], record_bytes_max: usize) -> Result<Header, Error> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), content).unwrap();
        read_header(file.path(), record_bytes_max)
    }

    fn names(content: &[u8]) -> Vec<String> {
        header_of(content, 1 << 20).unwrap().names
    }

    #[test]
    fn names_are_fields_like_any_other() {
        assert_eq!(names(b"a,b\n1,2\n"), ["a", "b"]);
        assert_eq!(names(b"\xef\xbb\xbfa,b\r\n1,2\r\n"), ["a", "b"]);
        assert_eq!(names(b"\"a,\"\"x\"\"\",\"b\nc\"\n"), ["a,\"x\"", "b\nc"]);
        assert_eq!(names(b"a,b"), ["a", "b"]);
        assert_eq!(names(b"a,b\r"), ["a", "b"]);
        assert_eq!(names(b"a,,\n"), ["a", "", ""]);
    }

    #[test]
    fn the_body_begins_after_the_header() {
        let header = header_of(b"\xef\xbb\xbf\n\r\na,\"b\n\"\n1,2\n", 1 << 20).unwrap();
        assert_eq!((header.body_at, header.body_line), (13, 5));
        let header = header_of(b"a,b", 1 << 20).unwrap();
        assert_eq!(header.body_at, 3);
    }

    #[test]
    fn a_header_longer_than_the_first_read() {
        let name = "x".repeat(300_000);
        assert_eq!(names(format!("a,{name}\n1,2\n").as_bytes()), ["a", &name]);
    }

    #[test]
    fn a_file_without_a_header_is_an_error() {
        for content in [&b""[..], b"\n\r\n", b"\xef\xbb\xbf"] {
            assert_eq!(header_of(content, 1 << 20).unwrap_err().code(), codes::FILE_EMPTY);
        }
        assert_eq!(header_of(b"a,\"b\n", 1 << 20).unwrap_err().code(), codes::HEADER_NOT_CLOSED);
        assert_eq!(header_of(b"aaaaaaaaaaaaaaaa\n", 8).unwrap_err().code(), codes::RECORD_TOO_LONG);
    }
}
