//! A look at the columns of a filter before all others are decoded: of few rows that it holds for, only the pages that have them
//! are.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Date32Array, Datum, Decimal128Array, Int64Array, RecordBatch,
    Scalar, StringViewArray, UInt64Array,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp;
use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;
use caudal_core::row_filter::{Test, Value};
use caudal_core::{RowFilter, limits};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;

use crate::at::FileAt;
use crate::convert::converted;

/// The columns of a filter that a file has.
#[derive(Debug)]
pub struct Probe {
    filter: Arc<RowFilter>,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    /// Its position in the table, and its type there.
    in_table: usize,
    ty: DataType,
    /// Its position in the file.
    in_file: usize,
}

impl Probe {
    /// None, if the file has none of them.
    pub fn of(
        filter: &Arc<RowFilter>,
        metadata: &ArrowReaderMetadata,
        table: &Schema,
    ) -> Option<Probe> {
        let column = |in_table: usize| {
            let field = table.fields().get(in_table)?;
            let (in_file, _) = metadata.schema().column_with_name(field.name())?;
            Some(Column { in_table, ty: field.data_type().clone(), in_file })
        };
        let mut columns: Vec<_> = filter.columns().into_iter().filter_map(column).collect();
        // They are read in the order in which the file has them.
        columns.sort_by_key(|column| column.in_file);
        let descriptor = metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(descriptor, columns.iter().map(|column| column.in_file));
        let is_any = !columns.is_empty();
        let (filter, metadata) = (Arc::clone(filter), metadata.clone());
        is_any.then_some(Probe { filter, metadata, mask, columns })
    }

    /// The columns that it decodes.
    pub fn mask(&self) -> &ProjectionMask {
        &self.mask
    }

    /// Those of some rows for which the filter holds. None, if they are not few: then it is better not to choose among them.
    /// That depends on the rows alone, so that it is the same whenever they are read.
    pub fn rows(
        &self,
        file: FileAt,
        group: usize,
        rows: &RowSelection,
    ) -> Result<Option<RowSelection>, ParquetError> {
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(self.mask.clone())
                .with_row_groups(vec![group])
                .with_row_selection(rows.clone())
                .with_batch_size(limits::PROBE_ROWS)
                .build()?;
        let is_few = |some: usize, all: usize| some <= all / limits::PROBE_ROWS_OF_EACH;
        let (mut found, mut some, mut all) = (vec![], 0, 0);
        for batch in reader {
            let batch = batch?;
            let holds = self.holds(&self.filter, &batch)?;
            some += holds.count_set_bits();
            all += batch.num_rows();
            if !is_few(some, all) {
                return Ok(None);
            }
            found.push(BooleanArray::new(holds, None));
        }
        // If there are others than the file says, whoever reads them all will tell.
        let is_whole = all == rows.row_count();
        Ok(is_whole.then(|| rows.and_then(&RowSelection::from_filters(&found))))
    }

    fn holds(&self, filter: &RowFilter, batch: &RecordBatch) -> Result<BooleanBuffer, ArrowError> {
        let rows = batch.num_rows();
        match filter {
            RowFilter::Any(filters) => {
                let mut any = BooleanBuffer::new_unset(rows);
                for filter in filters {
                    any = &any | &self.holds(filter, batch)?;
                }
                Ok(any)
            }
            RowFilter::All(filters) => {
                let mut all = BooleanBuffer::new_set(rows);
                for filter in filters {
                    all = &all & &self.holds(filter, batch)?;
                }
                Ok(all)
            }
            RowFilter::Column(column, test) => {
                let of = |known: &(usize, &Column)| known.1.in_table == *column;
                match self.columns.iter().enumerate().find(of) {
                    Some((at, column)) => {
                        let array = converted(batch.column(at), &column.ty)?;
                        Ok(holds_for(test, &array).unwrap_or(BooleanBuffer::new_set(rows)))
                    }
                    None => Ok(BooleanBuffer::new_set(rows)),
                }
            }
        }
    }
}

/// The values for which a test holds. None, if it cannot be asked of them.
fn holds_for(test: &Test, array: &ArrayRef) -> Option<BooleanBuffer> {
    let compared = |compare: Compare, value| {
        let scalar = scalar(value, array.data_type())?;
        let result = compare(array, &scalar).ok()?;
        Some(match result.nulls() {
            Some(nulls) => result.values() & nulls.inner(),
            None => result.values().clone(),
        })
    };
    match test {
        Test::IsNull => Some(match array.nulls() {
            Some(nulls) => !nulls.inner(),
            None => BooleanBuffer::new_unset(array.len()),
        }),
        Test::IsNotNull => Some(match array.nulls() {
            Some(nulls) => nulls.inner().clone(),
            None => BooleanBuffer::new_set(array.len()),
        }),
        Test::OneOf(values) if values.len() > limits::PROBE_VALUES_MAX => None,
        Test::OneOf(values) => {
            let none = BooleanBuffer::new_unset(array.len());
            values.iter().try_fold(none, |any, value| Some(&any | &compared(cmp::eq, value)?))
        }
        Test::Less(value) => compared(cmp::lt, value),
        Test::AtMost(value) => compared(cmp::lt_eq, value),
        Test::Greater(value) => compared(cmp::gt, value),
        Test::AtLeast(value) => compared(cmp::gt_eq, value),
    }
}

type Compare = fn(&dyn Datum, &dyn Datum) -> Result<BooleanArray, ArrowError>;

/// A value of a type that is compared everywhere as it is in SQL.
fn scalar(value: &Value, ty: &DataType) -> Option<Scalar<ArrayRef>> {
    let array: ArrayRef = match (value, ty) {
        (Value::Text(text), DataType::Utf8View) => Arc::new(StringViewArray::from(vec![&**text])),
        (Value::Int(value), DataType::Decimal128(precision, scale)) => {
            let value = Decimal128Array::from(vec![*value]);
            Arc::new(value.with_precision_and_scale(*precision, *scale).ok()?)
        }
        (Value::Int(value), DataType::UInt64) => {
            Arc::new(UInt64Array::from(vec![u64::try_from(*value).ok()?]))
        }
        (Value::Int(value), DataType::Date32) => {
            Arc::new(Date32Array::from(vec![i32::try_from(*value).ok()?]))
        }
        (Value::Int(value), ty)
            if ty.is_integer() || matches!(ty, DataType::Boolean | DataType::Timestamp(..)) =>
        {
            Arc::new(Int64Array::from(vec![i64::try_from(*value).ok()?]))
        }
        _ => return None,
    };
    Some(Scalar::new(converted(&array, ty).ok()?))
}
