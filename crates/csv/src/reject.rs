//! Rows that do not fit: what was wrong with them, and where.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use caudal_core::limits;

use crate::spec::Type;

/// A record of a file that is not in the batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The file that has it.
    pub file: Arc<Path>,
    /// The physical line where the record starts, counted from 1.
    pub line: u64,
    /// The SQL name of the column whose value does not fit, if it is one column's fault.
    pub column: Option<String>,
    /// Reason why it does not fit.
    pub reason: RejectReason,
    /// The record's bytes without its line ending, if [`Options::keep_raw_rejects`](crate::Options) is set.
    pub raw: Option<Vec<u8>>,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file.display(), self.line)?;
        if let Some(column) = &self.column {
            write!(f, "column `{column}`: ")?;
        }
        write!(f, "{}", self.reason)
    }
}

/// Reason why a record does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectReason {
    /// A record with more fields than its table, or fewer.
    FieldCount {
        /// Number of fields of the table.
        expected: usize,
        /// Number of fields of the record.
        found: usize,
    },
    /// A value that is not of its column's type; a long one is cut.
    NotOfType {
        /// The column's type.
        ty: Type,
        /// The value, as it is in the file.
        value: String,
    },
    /// A text that is not UTF-8.
    InvalidUtf8 {
        /// The first byte that is none.
        byte: u8,
        /// Number of characters before it.
        after_chars: usize,
    },
    /// A quote that is still open at the end of the file: everything from there on is this one record.
    UnclosedQuote {
        /// The physical line of the quote, counted from 1.
        opened_line: u64,
    },
    /// The file ends with an escape.
    DanglingEscape,
}

impl RejectReason {
    /// Of a text, or of the raw field, if only that is not UTF-8: an escape may have stood within a character.
    pub(crate) fn invalid_utf8(text: &[u8], raw: &[u8]) -> RejectReason {
        let text = if std::str::from_utf8(text).is_err() { text } else { raw };
        let valid = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let byte = text.get(valid.len()).copied().unwrap_or_default();
        RejectReason::InvalidUtf8 { byte, after_chars: valid.chars().count() }
    }

    pub(crate) fn not_of_type(ty: Type, value: &[u8]) -> RejectReason {
        let text = String::from_utf8_lossy(
            &value[..value.len().min(4 * limits::REJECT_VALUE_CHARS_MAX + 4)],
        );
        let value = match text.char_indices().nth(limits::REJECT_VALUE_CHARS_MAX) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text.into_owned(),
        };
        RejectReason::NotOfType { ty, value }
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RejectReason::FieldCount { expected, found } => {
                write!(f, "expected {expected} fields, found {found}")
            }
            RejectReason::NotOfType { ty, value } => write!(f, "`{value}` is not a valid {ty}"),
            RejectReason::InvalidUtf8 { byte, after_chars } => {
                let characters = if *after_chars == 1 { "character" } else { "characters" };
                write!(f, "byte {byte:#04x} after {after_chars} {characters} is not UTF-8")
            }
            RejectReason::DanglingEscape => f.write_str("the file ends with an escape"),
            RejectReason::UnclosedQuote { opened_line } => write!(
                f,
                "the quote opened on line {opened_line} is never closed; the rest of the file is this record"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_at_a_character() {
        let reason = RejectReason::not_of_type(Type::Int64, "ñ".repeat(100).as_bytes());
        let shown = format!("`{}…` is not a valid int64", "ñ".repeat(40));
        assert_eq!(reason.to_string(), shown);
    }

    #[test]
    fn a_reject_says_where_and_why() {
        let reject = Reject {
            file: Path::new("a.csv").into(),
            line: 7,
            column: Some("price".into()),
            reason: RejectReason::not_of_type(Type::Date, b"soon"),
            raw: None,
        };
        assert_eq!(reject.to_string(), "a.csv:7: column `price`: `soon` is not a valid date");
    }
}
