//! Specification of a read: a table's files and columns, and how to read them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use caudal_core::{RowFilter, limits};

use crate::dialect::Dialect;

/// One table: some files that hold the same columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name in SQL.
    pub name: String,
    /// Files, read one after the other.
    pub files: Vec<PathBuf>,
    /// Columns that SQL sees; the files may have more.
    pub columns: Vec<Column>,
    /// Number of fields of a record, where the header lies about it; else the header's own count.
    pub fields: Option<usize>,
    /// How its files are written.
    pub dialect: Dialect,
}

impl Table {
    /// The columns that SQL sees.
    pub fn schema(&self) -> SchemaRef {
        let field = |column: &Column| Field::new(&column.name, column.ty.data_type(), true);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in SQL.
    pub name: String,
    /// Its place in the files.
    pub at: At,
    /// The type of its values.
    pub ty: Type,
}

/// Place of a column in its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// Under this name in the header of each file: files may order their columns differently.
    Header(String),
    /// At this position, counted from 0.
    Index(usize),
}

/// The type of a column's values. An empty field is NULL in each of them. What is said here of how they look is
/// what they look like unless a [`Dialect`] has other [`Formats`](crate::Formats).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any text in UTF-8.
    Text,
    /// An integer of 64 bits.
    Int64,
    /// A floating-point number of 64 bits.
    Float64,
    /// `true`/`false`, `t`/`f`, `yes`/`no`, `1`/`0` in any case.
    Boolean,
    /// Exact: a value with more fraction digits than `scale` is not of this type, unless they are zeros.
    Decimal {
        /// Number of its digits.
        precision: u8,
        /// Number of those behind the point.
        scale: i8,
    },
    /// `YYYY-MM-DD`.
    Date,
    /// `YYYY-MM-DD[ T]HH:MM:SS[.fraction]` or a bare date, to the microsecond (further digits are cut).
    Timestamp,
}

impl Type {
    /// The Arrow type of the column's array.
    pub fn data_type(self) -> DataType {
        match self {
            Type::Text => DataType::Utf8View,
            Type::Int64 => DataType::Int64,
            Type::Float64 => DataType::Float64,
            Type::Boolean => DataType::Boolean,
            Type::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
            Type::Date => DataType::Date32,
            Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        }
    }
}

impl Type {
    /// The word that options have for it.
    pub fn word(self) -> String {
        match self {
            Type::Text => "text".to_string(),
            Type::Int64 => "int".to_string(),
            Type::Float64 => "float".to_string(),
            Type::Boolean => "bool".to_string(),
            Type::Date | Type::Timestamp | Type::Decimal { .. } => self.to_string(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Text => f.write_str("text"),
            Type::Int64 => f.write_str("int64"),
            Type::Float64 => f.write_str("float64"),
            Type::Boolean => f.write_str("boolean"),
            Type::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Type::Date => f.write_str("date"),
            Type::Timestamp => f.write_str("timestamp"),
        }
    }
}

/// Options for reading a table.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes to read at a time; a chunk is about as long.
    pub chunk_bytes: usize,
    /// A chunk grows to hold a long record, but one that has not ended after so many bytes is an error.
    /// It is looked at whenever another `chunk_bytes` have been read.
    pub record_bytes_max: usize,
    /// The first row that does not fit is an error, rather than a reject.
    pub strict: bool,
    /// A row is judged by all columns of its table, whichever are projected: it is in every batch, or in none.
    pub judge_all_columns: bool,
    /// The share of rows that may be rejects: whoever knows how many there were asks.
    pub rejected_percent_max: Option<f64>,
    /// Name of a column to append that orders the rows as in the files:
    /// `chunk number << 32 | row in chunk`, unsigned.
    pub position: Option<String>,
    /// Rows for which it does not hold may be left out, where that saves reading them; in CSV it does not.
    pub rows: Option<Arc<RowFilter>>,
    /// Keep the bytes of rejected records.
    pub keep_raw_rejects: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            chunk_bytes: limits::FRAGMENT_CSV_BYTES,
            record_bytes_max: limits::CSV_RECORD_BYTES_MAX,
            strict: false,
            judge_all_columns: false,
            rejected_percent_max: None,
            position: None,
            rows: None,
            keep_raw_rejects: false,
        }
    }
}
