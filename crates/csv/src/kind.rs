//! Files that are no CSV, by their first bytes: read as CSV they would be no rows, or nonsense.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::foreign;

/// What a file is, if it is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lz4,
    Zip,
    Tar,
    /// A page of the web: nearly always an error that was saved as a file.
    Page,
    /// It has bytes that text has not.
    Binary,
    Parquet,
    ArrowIpc,
    Sqlite,
    Json,
    Utf16,
    /// Its lines end as those of old Macintoshes: all of it would be one.
    CarriageReturns,
    /// Whatever else holds no text.
    Other(&'static str),
}

impl Kind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Gzip => "compressed with gzip",
            Kind::Zstd => "compressed with zstd",
            Kind::Bzip2 => "compressed with bzip2",
            Kind::Xz => "compressed with xz",
            Kind::Lz4 => "compressed with lz4",
            Kind::Zip => "a ZIP archive, as those of Excel are",
            Kind::Tar => "a tar archive",
            Kind::Page => "a page in HTML",
            Kind::Binary => "binary: no text has such bytes",
            Kind::Parquet => "a Parquet file",
            Kind::ArrowIpc => "an Arrow file",
            Kind::Sqlite => "a database of SQLite",
            Kind::Json => "JSON",
            Kind::Utf16 => "text in UTF-16",
            Kind::CarriageReturns => "text whose lines end with a carriage return alone",
            Kind::Other(name) => name,
        }
    }

    /// How it becomes CSV.
    pub fn remedy(self) -> &'static str {
        match self {
            Kind::Gzip => "unpack it first: gzip -dk FILE",
            Kind::Zstd => "unpack it first: zstd -d FILE",
            Kind::Bzip2 => "unpack it first: bzip2 -dk FILE",
            Kind::Xz => "unpack it first: xz -dk FILE",
            Kind::Lz4 => "unpack it first: lz4 -d FILE",
            Kind::Zip => "unpack it first, or save the sheet as CSV",
            Kind::Tar => "unpack it first: tar -xf FILE",
            Kind::Page => {
                "look at it: an error of the server it came from may be all that is in it"
            }
            Kind::Binary => "if it is text all the same, take the zeros out: tr -d '\\000' < FILE",
            Kind::Utf16 => {
                "say so: {encoding=\"utf-16\"}, or utf-16le, utf-16be where the file has no byte order mark"
            }
            Kind::CarriageReturns => "make them ends of lines: tr '\\r' '\\n' < FILE",
            Kind::Parquet | Kind::ArrowIpc | Kind::Sqlite | Kind::Json | Kind::Other(_) => {
                "export the table as CSV"
            }
        }
    }
}

/// Refuses what is not text. Looks at the beginning of the file, and leaves it there.
pub fn refuse_what_is_no_csv(file: &mut File, path: &Path, dialect: &Dialect) -> Result<(), Error> {
    let kind = look_at(file).map_err(|error| Error::read(path, error))?;
    refuse(kind, path, dialect)
}

/// The same for what comes in its order, of which these bytes are the first.
pub fn refuse_beginning(bytes: &[u8], path: &Path, dialect: &Dialect) -> Result<(), Error> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    // What follows these letters is no text, unless they are the beginning of a header.
    let is_text =
        |bytes: &[u8]| bytes.get(PARQUET.len()).is_none_or(|byte| !byte.is_ascii_control());
    match kind_of(head) {
        Some(Kind::Parquet) if is_text(head) => Ok(()),
        None => refuse(foreign::kind_of(head), path, dialect),
        kind => refuse(kind, path, dialect),
    }
}

fn refuse(kind: Option<Kind>, path: &Path, dialect: &Dialect) -> Result<(), Error> {
    match kind {
        // What was said of it is believed.
        Some(Kind::Utf16 | Kind::Binary)
            if dialect.encoding != Encoding::Utf8 || dialect.delimiter == 0 =>
        {
            Ok(())
        }
        Some(kind) => Err(Error::NotCsv { file: path.to_path_buf(), kind }),
        None => Ok(()),
    }
}

fn look_at(file: &mut File) -> io::Result<Option<Kind>> {
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let kind = match kind_of(&head) {
        // Four letters may be the beginning of a header.
        Some(Kind::Parquet) if !ends_with(file, PARQUET)? => None,
        None => foreign::kind_of(&head),
        kind => kind,
    };
    file.seek(SeekFrom::Start(0))?;
    Ok(kind)
}

/// Enough to see what follows a bracket.
pub const HEAD_BYTES: usize = 4096;

const PARQUET: &[u8] = b"PAR1";

fn ends_with(file: &mut File, suffix: &[u8]) -> io::Result<bool> {
    let mut end = vec![0; suffix.len()];
    if file.metadata()?.len() < 2 * suffix.len() as u64 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-(suffix.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == suffix)
}

fn kind_of(head: &[u8]) -> Option<Kind> {
    const MAGIC: [(&[u8], Kind); 20] = [
        (b"\x1f\x8b\x08", Kind::Gzip),
        (b"\x28\xb5\x2f\xfd", Kind::Zstd),
        (b"\xfd7zXZ\x00", Kind::Xz),
        (b"\x04\x22\x4d\x18", Kind::Lz4),
        (b"PK\x03\x04", Kind::Zip),
        (b"ARROW1\x00\x00", Kind::ArrowIpc),
        (b"SQLite format 3\x00", Kind::Sqlite),
        (PARQUET, Kind::Parquet),
        (b"\xff\xfe", Kind::Utf16),
        (b"\xfe\xff", Kind::Utf16),
        (b"\xff\xff\xff\xff", Kind::ArrowIpc),
        (b"FEA1", Kind::Other("a Feather file of the first version")),
        (b"Obj\x01", Kind::Other("an Avro file")),
        (b"ORC\x08", Kind::Other("an ORC file")),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind::Other("a document of an old Office (.xls)")),
        (b"7z\xbc\xaf\x27\x1c", Kind::Other("a 7-Zip archive")),
        (b"%PDF-", Kind::Other("a PDF document")),
        (b"\x89PNG\r\n\x1a\n", Kind::Other("a picture")),
        (b"\xff\xd8\xff", Kind::Other("a picture")),
        (b"\x7fELF", Kind::Other("a program")),
    ];
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(*kind);
    }
    let is_bzip2 = head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY");
    if is_bzip2 {
        return Some(Kind::Bzip2);
    }
    if is_utf16(head) {
        return Some(Kind::Utf16);
    }
    if is_json(head) {
        return Some(Kind::Json);
    }
    has_carriage_returns_alone(head).then_some(Kind::CarriageReturns)
}

/// In the middle of what would be one line.
fn has_carriage_returns_alone(head: &[u8]) -> bool {
    let inner = head.trim_ascii_end();
    inner.contains(&b'\r') && !head.contains(&b'\n')
}

/// Without a byte order mark: every other byte of Western text is zero then.
fn is_utf16(head: &[u8]) -> bool {
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let units = head.len() / 2;
    units >= 4 && even.max(odd) * 10 > units * 7 && even.min(odd) * 10 < units
}

/// Begins as an object, or as a list of them. A header in brackets (`[id],[name]`) does not.
fn is_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let inner = match text {
        [b'[', rest @ ..] => rest.trim_ascii_start(),
        _ => text,
    };
    match inner {
        [b'{', rest @ ..] => {
            let rest = rest.trim_ascii_start();
            let name_end = rest.iter().skip(1).position(|byte| *byte == b'"').map(|at| at + 2);
            let after_name = name_end.map(|end| rest[end..].trim_ascii_start());
            rest.starts_with(b"\"") && after_name.is_some_and(|rest| rest.starts_with(b":"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (head, expected) in [
            (&b"\x1f\x8b\x08\x00"[..], Some(Kind::Gzip)),
            (b"BZh91AY&SY", Some(Kind::Bzip2)),
            (b"BZhang,1", None),
            (b"PK\x03\x04", Some(Kind::Zip)),
            (b"{\"a\": 1}", Some(Kind::Json)),
            (b" [\n {\"a\": 1}]", Some(Kind::Json)),
            (b"{\"a\",\"b\"}\n", None),
            (b"[id],[name]\n", None),
            (b"{id},x\n", None),
            (b"\xff\xfea\0,\0", Some(Kind::Utf16)),
            (b"a\0,\0b\0\n\x00001\0,\x00002\0\n\0", Some(Kind::Utf16)),
            (b"\0a\0,\0b\0\n\x00001\0,\x00002\0\n", Some(Kind::Utf16)),
            (b"a,b\n1,\0\n2,\0\n", None),
            (b"\xef\xbb\xbfa,b\n", None),
            (b"a,b\r1,2\r", Some(Kind::CarriageReturns)),
            (b"a,b\r", None),
            (b"a,\"b\r\"\n", None),
            (b"%PDF-1.7\n", Some(Kind::Other("a PDF document"))),
            (b"", None),
        ] {
            assert_eq!(kind_of(head), expected, "{}", String::from_utf8_lossy(head));
        }
    }
}
