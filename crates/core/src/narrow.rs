//! Columns in fewer bytes for their way to a worker, and back to what they were.
//!
//! Most numbers of a table are near each other: a column of them is sent as how far each is above the least, in as
//! few bits as that takes. What compresses a message afterwards has a fraction of the bytes to go through, and so
//! has everybody on the way. What does not get smaller this way stays as it is.

mod steps;
mod uuid;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use serde::{Deserialize, Serialize};

pub use self::steps::{Bits, Number, Steps};

/// How each column of a batch is sent: nothing of one that is sent as it is. Empty if they all are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Narrowing(Vec<Option<Narrow>>);

/// How a column is sent that is not sent as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Narrow {
    Steps(Steps),
    /// UUIDs as everybody writes them, in lower case with hyphens: their 16 bytes.
    Uuid,
}

/// The batch as it is best sent.
pub fn narrow(batch: RecordBatch) -> (RecordBatch, Narrowing) {
    let narrowed: Vec<_> = batch.columns().iter().map(narrow_column).collect();
    if narrowed.iter().all(Option::is_none) {
        return (batch, Narrowing::default());
    }
    let (narrowing, columns): (Vec<_>, Vec<_>) = narrowed
        .into_iter()
        .zip(batch.columns())
        .map(|(narrowed, column)| match narrowed {
            Some((narrow, column)) => (Some(narrow), column),
            None => (None, Arc::clone(column)),
        })
        .unzip();
    let narrowing = Narrowing(narrowing);
    let fields = batch.schema();
    let schema = narrowing.schema(&fields).expect("it was made of these columns");
    let narrowed = with_columns(schema, columns, batch.num_rows());
    (narrowed.expect("columns are of the types that were just said"), narrowing)
}

/// The batch as it was before it was narrowed.
pub fn widen(batch: RecordBatch, narrowing: &Narrowing) -> Result<RecordBatch, ArrowError> {
    if narrowing.is_empty() {
        return Ok(batch);
    }
    let schema = batch.schema();
    if narrowing.0.len() != schema.fields().len() {
        return Err(mismatch(&schema, narrowing));
    }
    let (mut columns, mut fields) = (vec![], vec![]);
    for ((narrow, column), field) in narrowing.0.iter().zip(batch.columns()).zip(schema.fields()) {
        let wide = match narrow {
            Some(narrow) => narrow.widen(column)?,
            None => Arc::clone(column),
        };
        fields.push(of_type(field, wide.data_type().clone()));
        columns.push(wide);
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    with_columns(schema, columns, batch.num_rows())
}

impl Narrowing {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a batch of these columns is narrowed to; refused if they cannot be.
    pub fn schema(&self, wide: &Schema) -> Result<Schema, ArrowError> {
        if self.is_empty() {
            return Ok(wide.clone());
        }
        if self.0.len() != wide.fields().len() {
            return Err(mismatch(wide, self));
        }
        let fields = self.0.iter().zip(wide.fields()).map(|(narrow, field)| match narrow {
            None => Ok(field.as_ref().clone()),
            Some(narrow) if narrow.wide_type() == *field.data_type() => {
                Ok(of_type(field, narrow.data_type()))
            }
            Some(narrow) => {
                let (name, is, said) = (field.name(), field.data_type(), narrow.wide_type());
                let reason = format!("column {name:?} is narrowed from {said}, and is {is}");
                Err(ArrowError::SchemaError(reason))
            }
        });
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        Ok(Schema::new_with_metadata(fields, wide.metadata().clone()))
    }

    /// The memory that its columns will take when so many rows of them are as they were.
    pub fn wide_bytes(&self, rows: u64) -> u64 {
        let row_bytes: u64 = self.0.iter().flatten().map(Narrow::wide_bytes).sum();
        rows.saturating_mul(row_bytes)
    }
}

impl Narrow {
    fn wide_type(&self) -> DataType {
        match self {
            Narrow::Steps(steps) => steps.of.data_type(),
            Narrow::Uuid => DataType::Utf8View,
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Narrow::Steps(steps) => steps.bits.data_type(),
            Narrow::Uuid => uuid::NARROW,
        }
    }

    fn wide_bytes(&self) -> u64 {
        match self {
            Narrow::Steps(_) => size_of::<i128>() as u64,
            Narrow::Uuid => uuid::WIDE_BYTES,
        }
    }

    fn widen(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        if *column.data_type() != self.data_type() {
            let (is, said) = (column.data_type(), self.data_type());
            return Err(ArrowError::SchemaError(format!("a column is {is} instead of {said}")));
        }
        match self {
            Narrow::Steps(steps) => steps.widen(column),
            Narrow::Uuid => uuid::widen(column),
        }
    }
}

fn narrow_column(column: &ArrayRef) -> Option<(Narrow, ArrayRef)> {
    if *column.data_type() == DataType::Utf8View {
        return uuid::narrow(column).map(|narrowed| (Narrow::Uuid, narrowed));
    }
    let (steps, narrowed) = steps::narrow(column)?;
    Some((Narrow::Steps(steps), narrowed))
}

fn of_type(field: &Field, data_type: DataType) -> Field {
    field.clone().with_data_type(data_type)
}

fn with_columns(
    schema: Schema,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, ArrowError> {
    let count = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &count)
}

fn mismatch(schema: &Schema, narrowing: &Narrowing) -> ArrowError {
    let (columns, said) = (schema.fields().len(), narrowing.0.len());
    ArrowError::SchemaError(format!("{said} columns are narrowed, of {columns}"))
}

#[cfg(test)]
mod tests;
