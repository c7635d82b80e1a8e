//! Errors that end a read, each with a stable code, its place, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use arrow::datatypes::DataType;
use caudal_core::{Code, Coded, codes, limits};
use caudal_csv::Type;

use crate::reject::Reject;
use crate::remote::Failure;
use crate::type_word::type_word;
use crate::unpack::Damage;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Csv(caudal_csv::Error),

    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },

    #[error("{} cannot be read a second time: it is not a file", .0.display())]
    OnlyOnce(PathBuf),

    #[error("{} has changed since it was read for the first time", .0.display())]
    Changed(PathBuf),

    #[error("{}: {damage}", .path.display())]
    Compressed { path: PathBuf, damage: Damage },

    #[error("{}: not a readable {format}: {why}", .path.display())]
    Damaged { path: PathBuf, format: &'static str, why: String },

    #[error("{} is {format} and not a regular file", .path.display())]
    NeedsFile { path: PathBuf, format: &'static str },

    #[error("{}: column `{column}` is of type {ty}, which is not taken", .path.display())]
    TypeNotTaken { path: PathBuf, column: String, ty: DataType },

    #[error("{} has no columns", .0.display())]
    NoColumns(PathBuf),

    #[error("{} has {columns} columns; a table may have {}", .path.display(), limits::TABLE_COLUMNS_MAX)]
    TooManyColumns { path: PathBuf, columns: usize },

    #[error("{}: two columns are named `{column}`", .path.display())]
    ColumnTwice { path: PathBuf, column: String },

    #[error("{} has no column `{column}`, unlike {}", .path.display(), .first.display())]
    ColumnMissing { path: PathBuf, column: String, first: PathBuf },

    #[error(
        "{}: column `{column}` is of type {}, and of type {} in {}",
        .path.display(), type_word(.ty), type_word(.first_ty), .first.display()
    )]
    TypesDiffer { path: PathBuf, column: String, ty: DataType, first: PathBuf, first_ty: DataType },

    #[error(
        "{}: column `{column}` of table `{table}` is of type {ty}, and said to be {}",
        .path.display(),
        word(*.said)
    )]
    OtherType { path: PathBuf, table: String, column: String, ty: DataType, said: Type },

    #[error("table `{table}`: a value is not of the type that is said of it: {why}")]
    NotExact { table: String, why: String },

    #[error("no columns are said of table `{table}`, and its files are {format}")]
    ColumnsNotSaid { table: String, format: &'static str },

    #[error("{} is {format}, and {} is {first_format}", .path.display(), .first.display())]
    FormatsDiffer {
        path: PathBuf,
        format: &'static str,
        first: PathBuf,
        first_format: &'static str,
    },

    #[error("{}: {why}", .path.display())]
    NoTable { path: PathBuf, why: String },

    #[error("{}:{line}: the value that starts here is longer than {limit_bytes} bytes", .path.display())]
    TooLong { path: PathBuf, line: u64, limit_bytes: usize },

    #[error("{}: {why}", .address.display())]
    Address { address: PathBuf, why: String },

    #[error("cannot read {}: {why}", .address.display())]
    Remote { address: PathBuf, why: String, is_denied: bool },

    #[error("{}: {why}", .path.display())]
    Folders { path: PathBuf, why: String },

    /// Nothing that a file could have brought about.
    #[error("rows could not be put together: {0}")]
    Broken(String),

    #[error("{0}")]
    Strict(Box<Reject>),

    #[error(
        "table `{table}`: {rejected} of {rows} rows do not fit; at most {percent_max} % may be left out"
    )]
    TooMuchRejected { table: String, rows: u64, rejected: u64, percent_max: f64 },

    #[error("a table with more than 2^32 chunks")]
    TooManyChunks,
}

/// A type, as whoever declares it writes it.
fn word(ty: Type) -> String {
    match ty {
        Type::Int64 => "int".to_string(),
        Type::Float64 => "float".to_string(),
        Type::Boolean => "bool".to_string(),
        other => other.to_string(),
    }
}

impl Error {
    pub fn no_such_file(path: &Path) -> Error {
        Error::Csv(caudal_csv::Error::NoSuchFile(path.to_path_buf()))
    }

    /// An I/O error on `path`; what is wrong with its content, or that it is not there, is an error of its own.
    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        if let Some(damage) = source.get_ref().and_then(|inner| inner.downcast_ref::<Damage>()) {
            return Error::Compressed { path: path.to_path_buf(), damage: damage.clone() };
        }
        if let Some(failure) = Failure::of_io(&source) {
            return Error::remote(path, failure.clone());
        }
        match source.kind() {
            io::ErrorKind::NotFound => Error::no_such_file(path),
            _ => Error::Read { path: path.to_path_buf(), source },
        }
    }

    /// What became of a request to an address.
    pub(crate) fn remote(address: &Path, failure: Failure) -> Error {
        let remote = |why, is_denied| Error::Remote { address: address.into(), why, is_denied };
        match failure {
            Failure::Missing => Error::no_such_file(address),
            Failure::Changed => Error::Changed(address.into()),
            Failure::Denied(_) => remote(failure.to_string(), true),
            Failure::Unreadable(why) | Failure::Cut(why) => remote(why, false),
        }
    }
}

impl From<caudal_csv::Error> for Error {
    fn from(error: caudal_csv::Error) -> Error {
        match error {
            caudal_csv::Error::Read { path, source } => Error::read(&path, source),
            other => Error::Csv(other),
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Csv(error) => error.code(),
            Error::Read { .. } => codes::FILE_UNREADABLE,
            Error::OnlyOnce(_) => codes::READ_ONLY_ONCE,
            Error::Changed(_) => codes::FILE_CHANGED,
            Error::Compressed { damage: Damage::Bomb { .. }, .. } => codes::UNPACKS_TO_TOO_MUCH,
            Error::Compressed { .. } => codes::COMPRESSED_DAMAGED,
            Error::Damaged { .. } => codes::FILE_DAMAGED,
            Error::NeedsFile { .. } => codes::NOT_A_FILE,
            Error::TooManyColumns { .. } => codes::TOO_MANY_COLUMNS,
            Error::TypeNotTaken { .. } | Error::ColumnTwice { .. } => codes::COLUMN_NOT_TAKEN,
            Error::ColumnMissing { .. }
            | Error::TypesDiffer { .. }
            | Error::FormatsDiffer { .. } => codes::FILES_DIFFER,
            Error::OtherType { .. } | Error::NotExact { .. } => codes::COLUMN_OF_OTHER_TYPE,
            Error::ColumnsNotSaid { .. } => codes::COLUMNS_NOT_SAID,
            Error::NoColumns(_) | Error::NoTable { .. } => codes::NO_TABLE_IN_FILE,
            Error::TooLong { .. } => codes::RECORD_TOO_LONG,
            Error::Address { .. } => codes::ADDRESS_NOT_TAKEN,
            Error::Remote { .. } => codes::ADDRESS_UNREADABLE,
            Error::Folders { .. } => codes::FOLDERS_DIFFER,
            Error::Broken(_) => codes::FILE_UNREADABLE,
            Error::Strict(_) => codes::ROW_DOES_NOT_FIT,
            Error::TooMuchRejected { .. } => codes::TOO_MUCH_REJECTED,
            Error::TooManyChunks => codes::TOO_MANY_FRAGMENTS,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Csv(error) => return error.hint(),
            Error::Read { .. } | Error::TooManyChunks | Error::Broken(_) => return None,
            Error::OnlyOnce(_) => "save it as a file, which can be read again",
            Error::Changed(_) => "run it again, and leave its files alone meanwhile",
            Error::Compressed { damage: Damage::Bomb { .. }, .. } => {
                "if it is meant so, unpack it, and name what comes of it"
            }
            Error::Compressed { .. } | Error::Damaged { .. } => {
                "it was probably not copied or written to its end: get it again"
            }
            Error::NeedsFile { .. } => {
                "save it as a file, uncompressed: it is read at several places at once"
            }
            Error::TypeNotTaken { .. } => {
                "write the file without that column, or with another type"
            }
            Error::TooManyColumns { .. } => {
                "write it with fewer: queries over more are not planned in time"
            }
            Error::ColumnTwice { .. } => "write the file with a name of its own for each column",
            Error::ColumnMissing { .. } => {
                "{union_by_name=true} after the files makes it NULL where there is none; or name them as two tables"
            }
            Error::TypesDiffer { .. } | Error::FormatsDiffer { .. } => {
                "name them as two tables, and join them with UNION ALL"
            }
            Error::OtherType { .. } | Error::NotExact { .. } => {
                "say another type, or leave the table's columns out of suite.toml and use CAST in the queries"
            }
            Error::ColumnsNotSaid { .. } => {
                "say them in suite.toml: columns = [{ name = \"id\", type = \"int\" }, ...]; \
                 caudal schema FILE shows what they are"
            }
            Error::NoColumns(_) | Error::NoTable { .. } => {
                "a table of JSON is an object a line, or one array of objects"
            }
            Error::TooLong { .. } => "is a bracket or a quote missing?",
            Error::Address { .. } => {
                "addresses are s3://bucket/key, gs://, az://, abfs://, http:// and https://; with patterns, and a / at the \
                 end for a folder, where stores can list what they have"
            }
            Error::Remote { is_denied: true, .. } => {
                "credentials come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...; AWS_SKIP_SIGNATURE=true \
                 for what is public): docs/formats.md"
            }
            Error::Remote { .. } => {
                "is the address right, and can it be reached from this machine?"
            }
            Error::Folders { .. } => {
                "{hive_partitioning=false} after the files leaves folders out of the table"
            }
            Error::Strict(_) => "without --strict, such rows are counted and skipped",
            Error::TooMuchRejected { .. } => {
                "say how the files are written (docs/files.md), or that this is as it should be: \
                 --lenient, or --rejected-max PERCENT"
            }
        };
        Some(hint.to_string())
    }
}
