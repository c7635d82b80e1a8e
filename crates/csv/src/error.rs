//! Errors that end a read, each with a stable code, its place, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use caudal_core::error::nearest;
use caudal_core::{Code, Coded, codes, limits};

use crate::kind::Kind;
use crate::reject::Reject;
use crate::spec::Type;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no such file: {}", .0.display())]
    NoSuchFile(PathBuf),

    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },

    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),

    #[error("{} has changed since it was read for the first time", .0.display())]
    Changed(PathBuf),

    #[error("{} is not CSV: it is {}", .file.display(), .kind.name())]
    NotCsv { file: PathBuf, kind: Kind },

    #[error("{} is empty: it has no header", .0.display())]
    Empty(PathBuf),

    #[error("table `{table}`: column `{column}` is not in the header of {}", .file.display())]
    NoSuchColumn { table: String, file: PathBuf, column: String, header: Vec<String> },

    #[error(
        "table `{table}`: column `{column}` is at index {index}, but the records of {} have {fields} fields",
        .file.display()
    )]
    IndexBeyondFields { table: String, file: PathBuf, column: String, index: usize, fields: usize },

    #[error("table `{table}`: the header of {} has more than one `{column}`", .file.display())]
    DuplicateHeader {
        table: String,
        file: PathBuf,
        column: String,
        /// Positions of the name, counted from 0.
        indexes: Vec<usize>,
    },

    #[error("{}:{line}: the record that starts here is longer than {limit_bytes} bytes", .file.display())]
    RecordTooLong {
        file: PathBuf,
        line: u64,
        limit_bytes: usize,
        /// Line of the quote that is still open at the limit.
        quote_line: Option<u64>,
    },

    #[error("{}: its first line has not ended after {limit_bytes} bytes", .file.display())]
    HeaderTooLong { file: PathBuf, limit_bytes: usize },

    #[error(
        "{} has {columns} columns; a table may have {}", .file.display(), limits::TABLE_COLUMNS_MAX
    )]
    TooManyColumns { file: PathBuf, columns: usize },

    #[error("{0}")]
    Strict(Box<Reject>),

    #[error("{}: a quote in the header is never closed", .0.display())]
    UnclosedHeader(PathBuf),

    #[error("table `{0}` has no files")]
    NoFiles(String),

    #[error("table `{table}`: column `{column}` cannot be a {ty}")]
    InvalidDecimal { table: String, column: String, ty: Type },

    #[error("table `{table}`: {why}")]
    BadDialect { table: String, why: String },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::NoSuchFile(_) => codes::NO_SUCH_FILE,
            Error::Read { .. } => codes::FILE_UNREADABLE,
            Error::Changed(_) => codes::FILE_CHANGED,
            Error::Empty(_) => codes::FILE_EMPTY,
            Error::NoSuchColumn { .. } => codes::COLUMN_NOT_IN_HEADER,
            Error::IndexBeyondFields { .. } => codes::COLUMN_BEYOND_FIELDS,
            Error::DuplicateHeader { .. } => codes::HEADER_NAME_TWICE,
            Error::RecordTooLong { .. } | Error::HeaderTooLong { .. } => codes::RECORD_TOO_LONG,
            Error::TooManyColumns { .. } => codes::TOO_MANY_COLUMNS,
            Error::Strict(_) => codes::ROW_DOES_NOT_FIT,
            Error::UnclosedHeader(_) => codes::HEADER_NOT_CLOSED,
            Error::NoFiles(_) => codes::TABLE_WITHOUT_FILES,
            Error::InvalidDecimal { .. } => codes::BAD_DECIMAL,
            Error::NotAFile(_) => codes::NOT_A_FILE,
            Error::BadDialect { .. } => codes::BAD_DIALECT,
            Error::NotCsv { .. } => codes::NOT_CSV,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::NoSuchFile(_) => Some("check the path, or the glob it came from".into()),
            Error::Read { .. } => None,
            Error::Changed(_) => Some("run it again, and leave its files alone meanwhile".into()),
            Error::NotAFile(_) => {
                let hint = "name files: `folder/*.csv` for those in a folder; what comes from a \
                            pipe has to be saved first";
                Some(hint.into())
            }
            Error::NotCsv { kind, .. } => Some(kind.remedy().into()),
            Error::Empty(_) => Some("remove the file from the table, or give it a header".into()),
            Error::NoSuchColumn { column, header, .. } => Some(hint_for_column(column, header)),
            Error::IndexBeyondFields { fields, .. } => Some(format!(
                "indexes go from 0 to {}; if the header has too few names, state how many `fields` \
                 a record has",
                fields.saturating_sub(1)
            )),
            Error::DuplicateHeader { indexes, .. } => Some(format!(
                "refer to the column by its index: one of {}",
                indexes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
            )),
            Error::RecordTooLong { quote_line: Some(line), .. } => Some(format!(
                "a quote opened on line {line} and is still open: is its closing quote missing?"
            )),
            Error::RecordTooLong { quote_line: None, .. } => {
                Some("is it a CSV file, with LF or CRLF line endings?".into())
            }
            Error::HeaderTooLong { .. } => {
                Some("is it text with an end of line at all? a quote may be open, too".into())
            }
            Error::TooManyColumns { .. } => Some(
                "divide it, or turn it: a row for each value, with the name of its column".into(),
            ),
            Error::Strict(_) => Some("without --strict, such rows are counted and skipped".into()),
            Error::UnclosedHeader(_) => Some("close the quote on the file's first line".into()),
            Error::NoFiles(_) => Some("check the glob that should have found them".into()),
            Error::BadDialect { .. } => {
                Some("docs/files.md says what can be said of a file".into())
            }
            Error::InvalidDecimal { .. } => Some(
                "a decimal has a precision of 1 to 38 and a scale of 0 to its precision".into(),
            ),
        }
    }
}

impl Error {
    /// An I/O error on `path`; a missing file is an error of its own.
    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Error::NoSuchFile(path),
            _ => Error::Read { path, source },
        }
    }
}

fn hint_for_column(column: &str, header: &[String]) -> String {
    if let Some(byte) = delimiter_between(column, header) {
        return format!(
            "do its fields end with \"{byte}\"? files of one table have one delimiter: name it as a table of its own, \
             with {{delimiter=\"{byte}\"}}"
        );
    }
    let nearest = nearest(column, header.iter().map(String::as_str));
    let names = header.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match nearest {
        Some(name) if header.len() > limits::HEADER_NAMES_LISTED_MAX => {
            format!("did you mean `{name}`?")
        }
        Some(name) => format!("did you mean `{name}`? the header has {names}"),
        None if header.len() > limits::HEADER_NAMES_LISTED_MAX => {
            format!("the header has {} other names", header.len())
        }
        None => format!("the header has {names}"),
    }
}

/// What divides the one name that there is, if the column is a part of it.
fn delimiter_between(column: &str, header: &[String]) -> Option<char> {
    let [name] = header else { return None };
    let others = [',', ';', '\t', '|'];
    others
        .into_iter()
        .find(|byte| name.contains(*byte) && name.split(*byte).any(|part| part == column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_such_column(column: &str, header: &[&str]) -> Error {
        Error::NoSuchColumn {
            table: "t".into(),
            file: "t.csv".into(),
            column: column.into(),
            header: header.iter().map(|name| name.to_string()).collect(),
        }
    }

    #[test]
    fn a_missing_column_is_told_its_nearest_name() {
        let error = no_such_column("review_txt", &["app_id", "review_text"]);
        let hint = error.hint().unwrap();
        assert_eq!(hint, "did you mean `review_text`? the header has `app_id`, `review_text`");
        assert_eq!(error.code(), codes::COLUMN_NOT_IN_HEADER);
        assert_eq!(
            error.to_string(),
            "table `t`: column `review_txt` is not in the header of t.csv"
        );
    }

    #[test]
    fn a_file_with_another_delimiter_is_told() {
        let hint = no_such_column("v", &["id;v"]).hint().unwrap();
        assert!(hint.starts_with("do its fields end with \";\"?"), "{hint}");
    }

    #[test]
    fn a_far_name_is_no_suggestion() {
        let hint = no_such_column("price", &["app_id", "x"]).hint().unwrap();
        assert_eq!(hint, "the header has `app_id`, `x`");
    }

    #[test]
    fn a_long_header_is_not_listed() {
        let header = ["a"; 40];
        let hint = no_such_column("b", &header).hint().unwrap();
        assert_eq!(hint, "the header has 40 other names");
    }
}
