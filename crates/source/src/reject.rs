//! Rows that do not fit: what was wrong with them, and where.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::DataType;
use caudal_core::limits;

/// A row of a file that is not in the batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The file that has it.
    pub file: Arc<Path>,
    /// The physical line where the row starts, counted from 1.
    pub line: u64,
    /// The SQL name of the column whose value does not fit, if it is one column's fault.
    pub column: Option<String>,
    /// Reason why it does not fit.
    pub reason: RejectReason,
    /// The row's bytes without its line ending, if [`Options::keep_raw_rejects`](crate::Options) is set.
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

impl From<caudal_csv::Reject> for Reject {
    fn from(reject: caudal_csv::Reject) -> Reject {
        let caudal_csv::Reject { file, line, column, reason, raw } = reject;
        Reject { file, line, column, reason: RejectReason::Csv(reason), raw }
    }
}

/// Reason why a row does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectReason {
    /// Of a record of CSV.
    Csv(caudal_csv::RejectReason),
    /// A line that is not an object of JSON: why.
    NotAnObject(&'static str),
    /// A value of JSON that is not of its column's type; a long one is cut.
    NotOfType {
        /// The column's type.
        ty: DataType,
        /// The value, as it is in the file.
        value: String,
    },
}

impl RejectReason {
    /// Whether a value is not of its column's type: as text it would be taken.
    pub fn is_type_misfit(&self) -> bool {
        let csv = |reason: &caudal_csv::RejectReason| {
            matches!(reason, caudal_csv::RejectReason::NotOfType { .. })
        };
        matches!(self, RejectReason::NotOfType { .. })
            || matches!(self, RejectReason::Csv(reason) if csv(reason))
    }

    /// Whether a text is not UTF-8, and may be of another encoding.
    pub fn is_other_text(&self) -> bool {
        matches!(self, RejectReason::Csv(caudal_csv::RejectReason::InvalidUtf8 { .. }))
    }

    pub(crate) fn not_of_type(ty: DataType, value: &[u8]) -> RejectReason {
        let shown = &value[..value.len().min(4 * limits::REJECT_VALUE_CHARS_MAX + 4)];
        let text = String::from_utf8_lossy(shown);
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
            RejectReason::Csv(reason) => write!(f, "{reason}"),
            RejectReason::NotAnObject(why) => write!(f, "not an object of JSON: {why}"),
            RejectReason::NotOfType { ty, value } => write!(f, "`{value}` is not a valid {ty}"),
        }
    }
}
