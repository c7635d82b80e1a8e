//! Formats, known by what a file begins with.

use crate::abreast::abreast;
use crate::error::Error;
use crate::json::Cursor;
use crate::origin::Origin;
use crate::unpack::Codec;

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Csv,
    Json,
    Parquet,
    Ipc,
}

/// Enough to see what follows a bracket.
const HEAD_BYTES: usize = 4096;

const PARQUET: &[u8] = b"PAR1";
const IPC_FILE: &[u8] = b"ARROW1\0\0";
/// What the messages of a stream begin with.
const IPC_STREAM: &[u8] = b"\xff\xff\xff\xff";
const BOM: &[u8] = b"\xef\xbb\xbf";

impl Kind {
    /// The one format of all of them that have something in them: a file without a byte is of any.
    pub fn of_all(origins: &[Origin]) -> Result<Kind, Error> {
        let kinds = abreast(origins.iter().any(Origin::is_far), origins, Kind::of)?;
        let mut known =
            kinds.iter().zip(origins).filter_map(|(kind, origin)| Some(((*kind)?, origin)));
        let Some((first_kind, first)) = known.next() else { return Ok(Kind::Csv) };
        match known.find(|(kind, _)| *kind != first_kind) {
            None => Ok(first_kind),
            Some((kind, origin)) => Err(Error::FormatsDiffer {
                path: origin.path().to_path_buf(),
                format: kind.name(),
                first: first.path().to_path_buf(),
                first_format: first_kind.name(),
            }),
        }
    }

    fn of(origin: &Origin) -> Result<Option<Kind>, Error> {
        let magic = origin.magic()?;
        if let Some(rest) = magic.strip_prefix(PARQUET) {
            // Four letters may be the beginning of a header; what follows them here is no text.
            let is_binary = rest.first().is_some_and(|byte| byte.is_ascii_control());
            if is_binary || !origin.is_at_any_place() || ends_with(origin, PARQUET)? {
                return Ok(Some(Kind::Parquet));
            }
        }
        if magic.starts_with(IPC_FILE) {
            return Ok(Some(Kind::Ipc));
        }
        let (head, is_whole) = origin.sample(HEAD_BYTES)?;
        if head.starts_with(IPC_STREAM) {
            return Ok(Some(Kind::Ipc));
        }
        for (packed, format) in [(PARQUET, "Parquet"), (IPC_FILE, "an Arrow file")] {
            let is_packed = head.starts_with(packed) && !magic.starts_with(packed);
            if is_packed {
                return Err(Error::NeedsFile { path: origin.path().to_path_buf(), format });
            }
        }
        let is_blank = is_whole && head.trim_ascii().is_empty();
        let of_text = || if is_json(&head) { Kind::Json } else { Kind::Csv };
        Ok((!is_blank).then(of_text))
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Csv => "CSV",
            Kind::Json => "JSON",
            Kind::Parquet => "Parquet",
            Kind::Ipc => "Arrow",
        }
    }
}

impl Origin {
    /// How it is compressed, if it is.
    pub fn codec(&self) -> Result<Option<Codec>, Error> {
        self.magic().map(|magic| Codec::of(&magic))
    }
}

fn ends_with(origin: &Origin, suffix: &[u8]) -> Result<bool, Error> {
    let at = origin.total_bytes()?.and_then(|bytes| bytes.checked_sub(suffix.len() as u64));
    let Some(at) = at.filter(|at| *at > 0) else { return Ok(false) };
    let end = origin.at()?.exactly(at, suffix.len());
    Ok(end.map_err(|error| Error::read(origin.path(), error))? == suffix)
}

/// An object, or an array of them: a header of CSV may begin with a bracket as well.
fn is_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    match text.split_first() {
        Some((b'{', inner)) => matches!(inner.trim_ascii_start().first(), Some(b'"' | b'}')),
        Some((b'[', inner)) => {
            matches!(inner.trim_ascii_start().first(), Some(b'{' | b']')) || is_array(text)
        }
        _ => false,
    }
}

/// An array of whatever, which is no table: `[1,2,3]`. A header of CSV may begin like one, and goes on after its end.
fn is_array(text: &[u8]) -> bool {
    let mut cursor = Cursor::new(text);
    let is_whole = cursor.skip().is_ok();
    let mut rest = text[cursor.at()..].iter().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    is_whole && matches!(rest.next(), None | Some(b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_alone_are_no_json() {
        for json in [
            "{\"a\":1}",
            " \n{ }",
            "[{\"a\":1}]",
            "[\n  {",
            "\u{feff}{\"a\"",
            "[]",
            "[1,2]",
            "[\"a\",[2]]\n[3]",
        ] {
            assert!(is_json(json.as_bytes()), "{json:?}");
        }
        for csv in ["", "a,b", "[a],b\n", "{a},b\n", "[1],[2]\n", "['a',2]", "\"{\"", "{"] {
            assert!(!is_json(csv.as_bytes()), "{csv:?}");
        }
    }
}
