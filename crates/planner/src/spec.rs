//! Specification of a session: its tables and its queries. The same specification gives the same plan
//! in every process.

use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use caudal_core::ParamValue;
pub use caudal_protocol::manifest::QuerySpec;
use chrono::{DateTime, Utc};
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The hidden column that orders a table's rows as in its files. A query that names it gets it.
pub const ROW_COLUMN: &str = "_row";

/// The field of [`ROW_COLUMN`].
pub fn row_field() -> FieldRef {
    Arc::new(Field::new(ROW_COLUMN, DataType::UInt64, true))
}

#[derive(Clone, Debug)]
pub struct SessionSpec {
    pub tables: Vec<TableSpec>,
    pub queries: Vec<QuerySpec>,
    /// Number of shards that the session's stateful work is divided over.
    pub shards: usize,
    /// Time that `now()` gives, in every process.
    pub started: DateTime<Utc>,
}

#[derive(Clone, Debug)]
pub struct TableSpec {
    pub name: String,
    /// The columns SQL can see, without the hidden one.
    pub schema: SchemaRef,
}

/// The value of a parameter, as DataFusion has it.
pub fn scalar(value: &ParamValue) -> ScalarValue {
    match value {
        ParamValue::Int(value) => ScalarValue::Int64(Some(*value)),
        ParamValue::Float(value) => ScalarValue::Float64(Some(*value)),
        // As many digits as it has, so that there is room for those of what it meets.
        ParamValue::Decimal(value) => {
            ScalarValue::Decimal128(Some(value.units()), value.digits(), value.scale() as i8)
        }
        ParamValue::Text(value) => ScalarValue::Utf8(Some(value.clone())),
        ParamValue::Bool(value) => ScalarValue::Boolean(Some(*value)),
    }
}
