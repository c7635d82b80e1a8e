//! The beginning of a file: the names of its columns, and where its records begin.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use caudal_core::limits;
use memchr::{memchr, memchr_iter};

use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::field::{owned_value, without_cr};
use crate::index::Index;
use crate::kind::refuse_what_is_no_csv;

#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    pub names: Vec<String>,
    /// The first byte of the names that is not UTF-8.
    pub first_bad_byte: Option<u8>,
    /// Encoding of the file.
    pub encoding: Encoding,
    /// Offset at which the records begin.
    pub body_at: usize,
    /// The physical line on which they do, counted from 1.
    pub body_line: u64,
}

/// Reads the header of a file: its first line that is not blank. Where there is none, as many names as that has fields.
pub fn read_header(
    path: &Path,
    dialect: &Dialect,
    record_bytes_max: usize,
) -> Result<Header, Error> {
    // Asked before it is opened: opening a pipe waits for its writer.
    if !path.metadata().map_err(|error| Error::read(path, error))?.is_file() {
        return Err(Error::NotAFile(path.to_path_buf()));
    }
    let mut file = File::open(path).map_err(|error| Error::read(path, error))?;
    refuse_what_is_no_csv(&mut file, path, dialect)?;
    Ok(header_of(&mut file, path, dialect, record_bytes_max)?.0)
}

/// The header of what comes, and all that has been read to find it.
pub fn header_of(
    input: &mut dyn Read,
    path: &Path,
    dialect: &Dialect,
    record_bytes_max: usize,
) -> Result<(Header, Vec<u8>), Error> {
    const FIRST_READ_BYTES: usize = 64 << 10;
    let mut bytes = Vec::new();
    // Names are short, a record without names may be as long as any.
    let bytes_max = match dialect.has_header {
        true => record_bytes_max.min(limits::CSV_HEADER_BYTES_MAX),
        false => record_bytes_max,
    };
    let mut wanted_bytes = FIRST_READ_BYTES.min(bytes_max);
    loop {
        let missing = wanted_bytes - bytes.len();
        let read = input.take(missing as u64).read_to_end(&mut bytes);
        let at_end = read.map_err(|error| Error::read(path, error))? < missing;
        let head = Head::of(bytes.clone(), dialect);
        if let Some(header) = head.find_header(dialect) {
            return Ok((header, bytes));
        }
        if at_end {
            return Ok((header_without_newline(path, dialect, head)?, bytes));
        }
        if wanted_bytes == bytes_max {
            return Err(Error::HeaderTooLong { file: path.to_path_buf(), limit_bytes: bytes_max });
        }
        wanted_bytes = (2 * wanted_bytes).min(bytes_max);
    }
}

fn header_without_newline(path: &Path, dialect: &Dialect, mut head: Head) -> Result<Header, Error> {
    let file_bytes = head.encoding.encoded_len(&head.text);
    head.text.push(b'\n');
    if let Some(header) = head.find_header(dialect) {
        return Ok(Header { body_at: header.body_at.min(file_bytes), ..header });
    }
    let is_open = body_of(&head.text, dialect).is_some_and(|(at, _)| {
        let mut index = Index::new(&head.text[at..], dialect.syntax());
        while index.next_stretch().is_some() {}
        index.unfinished().is_some()
    });
    Err(if is_open { Error::UnclosedHeader(path.into()) } else { Error::Empty(path.into()) })
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Where the lines that count begin, and the number of the first of them.
pub fn body_of(bytes: &[u8], dialect: &Dialect) -> Option<(usize, u64)> {
    let mut at = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    for _ in 0..dialect.skip_lines {
        at += 1 + memchr(b'\n', &bytes[at..])?;
    }
    let mut line = 1 + dialect.skip_lines as u64;
    if line == 1
        && let Some((delimiter, len)) = said_delimiter(&bytes[at..])
        && delimiter == dialect.delimiter
    {
        at += len;
        line += 1;
    }
    Some((at, line))
}

/// The delimiter that a first line says, as Excel writes and reads it (`sep=;`), and the bytes of that line.
fn said_delimiter(text: &[u8]) -> Option<(u8, usize)> {
    let [delimiter, rest @ ..] = text.strip_prefix(b"sep=")? else { return None };
    let end = if rest.starts_with(b"\r\n") { 2 } else { 1 };
    (rest.get(end - 1) == Some(&b'\n')).then_some((*delimiter, b"sep=".len() + 1 + end))
}

/// The same of a text that may begin with a mark.
pub fn delimiter_of_first_line(text: &[u8]) -> Option<u8> {
    Some(said_delimiter(text.strip_prefix(BOM).unwrap_or(text))?.0)
}

/// The beginning of a file, in UTF-8.
struct Head {
    encoding: Encoding,
    text: Vec<u8>,
}

impl Head {
    fn of(bytes: Vec<u8>, dialect: &Dialect) -> Head {
        let encoding = dialect.encoding.of_file(&bytes);
        Head { encoding, text: encoding.decoded(bytes) }
    }

    /// The header, if it is there to its end.
    fn find_header(&self, dialect: &Dialect) -> Option<Header> {
        let found = find_header(&self.text, dialect)?;
        let body_at = self.encoding.encoded_len(&self.text[..found.body_at]);
        Some(Header { encoding: self.encoding, body_at, ..found })
    }
}

/// The header at the start of a text, if it is there to its end.
fn find_header(text: &[u8], dialect: &Dialect) -> Option<Header> {
    let encoding = Encoding::Utf8;
    let (begin, first_line) = body_of(text, dialect)?;
    let text = &text[begin..];
    let syntax = dialect.syntax();
    let mut index = Index::new(text, syntax);
    while let Some(stretch) = index.next_stretch() {
        let is_record = |(first, fields): &(u32, usize)| !stretch.is_blank(*first, *fields);
        let Some((first, fields)) = stretch.records().find(is_record) else {
            continue;
        };
        if !dialect.has_header {
            let names = (1..=fields).map(|n| format!("c{n}")).collect();
            return Some(Header {
                names,
                first_bad_byte: None,
                encoding,
                body_at: begin,
                body_line: first_line,
            });
        }
        let name = |i: usize| {
            let raw = stretch.raw_field(first as usize + i);
            let raw = if i + 1 == fields { without_cr(raw) } else { raw };
            String::from_utf8_lossy(&owned_value(raw, syntax)).into_owned()
        };
        let header_end = stretch.starts[first as usize + fields] as usize;
        return Some(Header {
            names: (0..fields).map(name).collect(),
            first_bad_byte: first_bad_byte(&text[..header_end]),
            encoding,
            body_at: begin + header_end,
            body_line: first_line + memchr_iter(b'\n', &text[..header_end]).count() as u64,
        });
    }
    None
}

fn first_bad_byte(text: &[u8]) -> Option<u8> {
    let error = std::str::from_utf8(text).err()?;
    text.get(error.valid_up_to()).copied()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use caudal_core::{Coded, codes};

    use super::*;

    fn header_of(content: &[u8], record_bytes_max: usize) -> Result<Header, Error> {
        header_in(content, &Dialect::default(), record_bytes_max)
    }

    fn header_in(
        content: &[u8],
        dialect: &Dialect,
        record_bytes_max: usize,
    ) -> Result<Header, Error> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), content).unwrap();
        read_header(file.path(), dialect, record_bytes_max)
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
    fn a_first_line_that_does_not_end_is_no_header() {
        let long = vec![b'x'; limits::CSV_HEADER_BYTES_MAX + 1];
        let error = header_of(&long, 1 << 30).unwrap_err();
        assert_eq!(error.code(), codes::RECORD_TOO_LONG);
        // A record without names may be as long as any.
        let dialect = Dialect { has_header: false, ..Dialect::default() };
        assert_eq!(header_in(&long, &dialect, 1 << 30).unwrap().names, ["c1"]);
    }

    #[test]
    fn a_first_line_may_say_the_delimiter() {
        let semicolons = Dialect { delimiter: b';', ..Dialect::default() };
        for content in ["sep=;\na;b\n1;2\n", "\u{feff}sep=;\r\na;b\r\n1;2\r\n"] {
            let header = header_in(content.as_bytes(), &semicolons, 1 << 20).unwrap();
            assert_eq!((header.names, header.body_line), (vec!["a".into(), "b".into()], 3));
            assert_eq!(delimiter_of_first_line(content.as_bytes()), Some(b';'));
        }
        assert_eq!(names(b"sep=;\n1\n"), ["sep=;"]);
        assert_eq!(delimiter_of_first_line(b"sep=;x\n"), None);
        assert_eq!(delimiter_of_first_line(b"sep=x"), None);
    }

    #[test]
    fn a_file_without_a_header_is_an_error() {
        for content in [&b""[..], b"\n\r\n", b"\xef\xbb\xbf"] {
            assert_eq!(header_of(content, 1 << 20).unwrap_err().code(), codes::FILE_EMPTY);
        }
        assert_eq!(header_of(b"a,\"b\n", 1 << 20).unwrap_err().code(), codes::HEADER_NOT_CLOSED);
        assert_eq!(header_of(b"aaaaaaaaaaaaaaaa\n", 8).unwrap_err().code(), codes::RECORD_TOO_LONG);
    }

    #[test]
    fn lines_before_the_header_and_comments_are_passed_over() {
        let dialect = Dialect { skip_lines: 2, comment: Some(b'#'), ..Dialect::default() };
        let content = b"\xef\xbb\xbfReport, \"of\nmonday\n#a,b,\"c\n\na,b\n1,2\n";
        let header = header_in(content, &dialect, 1 << 20).unwrap();
        assert_eq!(header.names, ["a", "b"]);
        assert_eq!((&content[header.body_at..], header.body_line), (&b"1,2\n"[..], 6));
        for short in [&b"one\n"[..], b"one", b"one\ntwo\n", b"one\ntwo\n#x"] {
            let error = header_in(short, &dialect, 1 << 20).unwrap_err();
            assert_eq!(error.code(), codes::FILE_EMPTY, "{short:?}");
        }
    }

    #[test]
    fn without_a_header_the_first_record_says_how_many_columns_there_are() {
        let dialect = Dialect { has_header: false, ..Dialect::default() };
        for content in [&b"7,\"x\ny\",8\n9,z,1\n"[..], b"7,x,8"] {
            let header = header_in(content, &dialect, 1 << 20).unwrap();
            assert_eq!(header.names, ["c1", "c2", "c3"]);
            assert_eq!((header.body_at, header.body_line), (0, 1));
        }
    }
}
