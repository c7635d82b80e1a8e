//! How a file is written: which bytes divide it, and what its values look like.

use crate::encoding::Encoding;
use crate::formats::Formats;
use crate::syntax::Syntax;

/// How the files of a table are written. The default is RFC 4180: commas, quotes that are doubled, a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    /// The encoding of its text. What follows is said of the text.
    pub encoding: Encoding,
    /// The byte between two fields.
    pub delimiter: u8,
    /// The byte around a field that holds others of these bytes. A quote within is doubled.
    pub quote: Option<u8>,
    /// The byte that makes the next one an ordinary character, within quotes and without.
    pub escape: Option<u8>,
    /// The byte at the beginning of a line that is a comment.
    pub comment: Option<u8>,
    /// Whether the first record has the names of the columns; if not, they are `c1`, `c2`, …
    pub has_header: bool,
    /// How many lines there are before the first record.
    pub skip_lines: usize,
    /// What its values look like.
    pub formats: Formats,
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect {
            encoding: Encoding::default(),
            delimiter: b',',
            quote: Some(b'"'),
            escape: None,
            comment: None,
            has_header: true,
            skip_lines: 0,
            formats: Formats::default(),
        }
    }
}

impl Dialect {
    /// Why no file can be written like this, if none can.
    pub fn contradiction(&self) -> Option<String> {
        let bytes = [
            ("delimiter", Some(self.delimiter)),
            ("quote", self.quote),
            ("escape", self.escape),
            ("comment", self.comment),
        ];
        let bytes: Vec<(&str, u8)> =
            bytes.iter().filter_map(|(name, byte)| Some((*name, (*byte)?))).collect();
        for (at, (name, byte)) in bytes.iter().enumerate() {
            if matches!(byte, b'\n' | b'\r') {
                return Some(format!("the {name} cannot be the end of a line"));
            }
            if let Some((other, _)) = bytes[..at].iter().find(|(_, other)| other == byte) {
                return Some(format!("the {name} and the {other} are the same"));
            }
            if !byte.is_ascii() && *name != "delimiter" {
                return Some(format!("the {name} is not an ASCII character"));
            }
        }
        let is_ascii = self.encoding == Encoding::Utf8 || self.delimiter.is_ascii();
        if !is_ascii {
            return Some(format!(
                "the delimiter is no character of its own in {}",
                self.encoding.name()
            ));
        }
        self.formats.contradiction()
    }

    pub(crate) fn syntax(&self) -> Syntax {
        Syntax::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_mean_two_things_contradict_each_other() {
        let plain = Dialect::default();
        assert_eq!(plain.contradiction(), None);
        assert_eq!(Dialect { delimiter: 0xfe, ..plain.clone() }.contradiction(), None);
        for (dialect, expected) in [
            (
                Dialect { delimiter: b'"', ..plain.clone() },
                "the quote and the delimiter are the same",
            ),
            (
                Dialect { delimiter: b'\n', ..plain.clone() },
                "the delimiter cannot be the end of a line",
            ),
            (
                Dialect { comment: Some(b','), ..plain.clone() },
                "the comment and the delimiter are the same",
            ),
            (Dialect { quote: Some(0xfe), ..plain }, "the quote is not an ASCII character"),
        ] {
            assert_eq!(dialect.contradiction().as_deref(), Some(expected));
        }
    }
}
