//! Columns as any program can read them.
//!
//! Arrow has types that a file format lacks, or that its readers take for something else: a Parquet file with
//! timestamps in seconds, times in seconds or durations has bare integers in it, for everybody but Arrow. So what
//! has an equal among the common types is made that, and the rest is text: the same text as in CSV.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::util::display::ArrayFormatter;

use super::cells::OPTIONS;

pub fn plain_schema(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let plain = plain_type(field.data_type());
        let is_possible = can_cast_types(field.data_type(), &plain);
        Field::new(field.name(), if is_possible { plain } else { DataType::Utf8 }, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The batch with the columns of its plain schema.
pub fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| plain_column(column, field.data_type()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns.collect::<Result<_, _>>()?,
        &options,
    )
}

fn plain_column(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    if can_cast_types(column.data_type(), to) && !is_worded(column.data_type()) {
        let options = CastOptions { safe: false, format_options: OPTIONS };
        return cast_with_options(column, to, &options);
    }
    let cells = ArrayFormatter::try_new(column, &OPTIONS)?;
    let cell = |row| column.is_valid(row).then(|| cells.value(row).try_to_string()).transpose();
    Ok(Arc::new((0..column.len()).map(cell).collect::<Result<StringArray, _>>()?))
}

/// Whether a value is told in words, having no equal.
fn is_worded(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Duration(_) | DataType::Interval(_) | DataType::Union(..))
}

fn plain_type(data_type: &DataType) -> DataType {
    use DataType::*;
    match data_type {
        Timestamp(TimeUnit::Second, zone) => Timestamp(TimeUnit::Millisecond, zone.clone()),
        Date64 => Timestamp(TimeUnit::Millisecond, None),
        Time32(TimeUnit::Second) => Time32(TimeUnit::Millisecond),
        Dictionary(_, values) => plain_type(values),
        RunEndEncoded(_, values) => plain_type(values.data_type()),
        List(item) | ListView(item) | LargeList(item) | LargeListView(item) => {
            List(plain_field(item))
        }
        FixedSizeList(item, _) => List(plain_field(item)),
        Struct(fields) if !fields.is_empty() => Struct(fields.iter().map(plain_field).collect()),
        Map(entries, is_sorted) => Map(plain_field(entries), *is_sorted),
        Struct(_) => Utf8,
        worded if is_worded(worded) => Utf8,
        other => other.clone(),
    }
}

fn plain_field(field: &FieldRef) -> FieldRef {
    let plain = field.as_ref().clone().with_data_type(plain_type(field.data_type()));
    Arc::new(plain.with_metadata(Default::default()))
}
