//! Words for types of columns.

use arrow::datatypes::{DataType, TimeUnit};
use caudal_csv::Type;

/// As options have it, where they can say it.
pub fn type_word(ty: &DataType) -> String {
    match ty {
        DataType::Utf8 | DataType::Utf8View => Type::Text.word(),
        DataType::Int64 => Type::Int64.word(),
        DataType::Float64 => Type::Float64.word(),
        DataType::Boolean => Type::Boolean.word(),
        DataType::Date32 => Type::Date.word(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => Type::Timestamp.word(),
        DataType::Decimal128(precision, scale) => format!("decimal({precision},{scale})"),
        other => other.to_string().to_lowercase(),
    }
}
