//! Encodings of columns, for fewer bytes on their way to a worker.
//!
//! Most numbers of a table are near each other: a column of them is sent by frame of reference, as how far each is
//! above the least, in as few bits as that takes. What compresses a message afterwards has a fraction of the bytes to
//! go through, and so has everybody on the way. What does not get smaller this way stays as it is.

mod frame_of_reference;
mod uuid;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use serde::{Deserialize, Serialize};

pub use self::frame_of_reference::{Bits, FrameOfReference, Number};

/// The encoding of each column of a batch; none of one that is sent as it is. Empty if they all are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encodings(Vec<Option<ColumnEncoding>>);

/// The encoding of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnEncoding {
    #[serde(rename = "steps")]
    FrameOfReference(FrameOfReference),
    /// UUIDs as everybody writes them, in lower case with hyphens: their 16 bytes.
    Uuid,
}

/// The batch as it is best sent.
pub fn encode(batch: RecordBatch) -> (RecordBatch, Encodings) {
    let encoded: Vec<_> = batch.columns().iter().map(encode_column).collect();
    if encoded.iter().all(Option::is_none) {
        return (batch, Encodings::default());
    }
    let (encodings, columns): (Vec<_>, Vec<_>) = encoded
        .into_iter()
        .zip(batch.columns())
        .map(|(encoded, column)| match encoded {
            Some((encoding, column)) => (Some(encoding), column),
            None => (None, Arc::clone(column)),
        })
        .unzip();
    let encodings = Encodings(encodings);
    let fields = batch.schema();
    let schema = encodings.schema(&fields).expect("it was made of these columns");
    let encoded = with_columns(schema, columns, batch.num_rows());
    (encoded.expect("columns are of the types that were just said"), encodings)
}

/// The batch as it was before it was encoded.
pub fn decode(batch: RecordBatch, encodings: &Encodings) -> Result<RecordBatch, ArrowError> {
    if encodings.is_empty() {
        return Ok(batch);
    }
    let schema = batch.schema();
    if encodings.0.len() != schema.fields().len() {
        return Err(mismatch(&schema, encodings));
    }
    let (mut columns, mut fields) = (vec![], vec![]);
    for ((encoding, column), field) in encodings.0.iter().zip(batch.columns()).zip(schema.fields())
    {
        let decoded = match encoding {
            Some(encoding) => encoding.decode(column)?,
            None => Arc::clone(column),
        };
        fields.push(of_type(field, decoded.data_type().clone()));
        columns.push(decoded);
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    with_columns(schema, columns, batch.num_rows())
}

impl Encodings {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The schema of a batch of these columns once it is encoded; refused if they cannot be.
    pub fn schema(&self, decoded: &Schema) -> Result<Schema, ArrowError> {
        if self.is_empty() {
            return Ok(decoded.clone());
        }
        if self.0.len() != decoded.fields().len() {
            return Err(mismatch(decoded, self));
        }
        let fields = self.0.iter().zip(decoded.fields()).map(|(encoding, field)| match encoding {
            None => Ok(field.as_ref().clone()),
            Some(encoding) if encoding.decoded_type() == *field.data_type() => {
                Ok(of_type(field, encoding.data_type()))
            }
            Some(encoding) => {
                let (name, is, said) = (field.name(), field.data_type(), encoding.decoded_type());
                let reason = format!("column {name:?} is encoded from {said}, and is {is}");
                Err(ArrowError::SchemaError(reason))
            }
        });
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        Ok(Schema::new_with_metadata(fields, decoded.metadata().clone()))
    }

    /// The memory that so many rows of its columns take once they are decoded.
    pub fn decoded_bytes(&self, rows: u64) -> u64 {
        let row_bytes: u64 = self.0.iter().flatten().map(ColumnEncoding::decoded_bytes).sum();
        rows.saturating_mul(row_bytes)
    }
}

impl ColumnEncoding {
    fn decoded_type(&self) -> DataType {
        match self {
            ColumnEncoding::FrameOfReference(frame) => frame.of.data_type(),
            ColumnEncoding::Uuid => DataType::Utf8View,
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            ColumnEncoding::FrameOfReference(frame) => frame.bits.data_type(),
            ColumnEncoding::Uuid => uuid::ENCODED,
        }
    }

    fn decoded_bytes(&self) -> u64 {
        match self {
            ColumnEncoding::FrameOfReference(_) => size_of::<i128>() as u64,
            ColumnEncoding::Uuid => uuid::DECODED_BYTES,
        }
    }

    fn decode(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        if *column.data_type() != self.data_type() {
            let (is, said) = (column.data_type(), self.data_type());
            return Err(ArrowError::SchemaError(format!("a column is {is} instead of {said}")));
        }
        match self {
            ColumnEncoding::FrameOfReference(frame) => frame.decode(column),
            ColumnEncoding::Uuid => uuid::decode(column),
        }
    }
}

fn encode_column(column: &ArrayRef) -> Option<(ColumnEncoding, ArrayRef)> {
    if *column.data_type() == DataType::Utf8View {
        return uuid::encode(column).map(|encoded| (ColumnEncoding::Uuid, encoded));
    }
    let (frame, encoded) = frame_of_reference::encode(column)?;
    Some((ColumnEncoding::FrameOfReference(frame), encoded))
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

fn mismatch(schema: &Schema, encodings: &Encodings) -> ArrowError {
    let (columns, said) = (schema.fields().len(), encodings.0.len());
    ArrowError::SchemaError(format!("encodings of {said} columns, of {columns}"))
}

#[cfg(test)]
mod tests;
