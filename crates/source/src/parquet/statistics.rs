//! What a file says of its rows before they are read: the least and the greatest value of each column, and how many are NULL, in
//! each row group, and in each page where it has a page index.
//!
//! Only of types whose values have one order everywhere. Floats have none that writers agree on (NaN, -0.0); what was
//! written before Parquet said which order is meant is passed over.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Field, Int64Type, Schema, UInt64Type};
use caudal_core::RowFilter;
use caudal_core::row_filter::{Known, Test, Value};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, RowSelection};
use parquet::basic::Type;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use crate::convert::converted;

/// The statistics of a file, as a table's filters ask for them.
pub struct Statistics<'a> {
    file: &'a ArrowReaderMetadata,
    table: &'a Schema,
}

/// A column of the file that may have some.
struct Column<'a> {
    leaf: usize,
    statistics: StatisticsConverter<'a>,
    /// Its type in the table.
    ty: &'a DataType,
}

impl<'a> Statistics<'a> {
    pub fn new(file: &'a ArrowReaderMetadata, table: &'a Schema) -> Statistics<'a> {
        Statistics { file, table }
    }

    /// Whether the filter may hold for rows of a row group.
    pub fn may_hold(&self, filter: &RowFilter, group: usize) -> bool {
        filter.may_hold(&|column| self.known(group, column).unwrap_or_default())
    }

    /// The rows of a row group for which the filter may hold, by the pages that they are in.
    pub fn rows(&self, filter: &RowFilter, group: usize) -> RowSelection {
        let all = usize::try_from(self.group(group).num_rows()).unwrap_or(0);
        let of = |rows| RowSelection::from_consecutive_ranges(std::iter::once(rows), all);
        match filter {
            RowFilter::Any(filters) => {
                let each = filters.iter().map(|filter| self.rows(filter, group));
                each.reduce(|one, other| one.union(&other)).unwrap_or_else(|| of(0..0))
            }
            RowFilter::All(filters) => {
                let each = filters.iter().map(|filter| self.rows(filter, group));
                each.reduce(|one, other| one.intersection(&other)).unwrap_or_else(|| of(0..all))
            }
            RowFilter::Column(column, test) => {
                self.pages(group, *column, test, all).unwrap_or_else(|| of(0..all))
            }
        }
    }

    /// Of a column of the table.
    fn column(&self, column: usize) -> Option<Column<'a>> {
        let table_field: &Field = self.table.fields().get(column)?;
        let (root, field) = self.file.schema().column_with_name(table_field.name())?;
        let descriptor = self.metadata().file_metadata().schema_descr();
        let leaf = (0..descriptor.num_columns())
            .find(|leaf| descriptor.get_column_root_idx(*leaf) == root)?;
        let described = descriptor.column(leaf);
        let is_plain = described.path().parts().len() == 1 && described.max_rep_level() == 0;
        // Nobody agrees on the order of such timestamps.
        if !is_plain || described.physical_type() == Type::INT96 {
            return None;
        }
        let statistics = StatisticsConverter::from_column_index(leaf, field, descriptor).ok()?;
        let statistics = statistics.with_missing_null_counts_as_zero(false);
        Some(Column { leaf, statistics, ty: table_field.data_type() })
    }

    fn known(&self, group: usize, column: usize) -> Option<Known> {
        let Column { leaf, statistics, ty } = self.column(column)?;
        let group = self.group(group);
        let is_ordered = has_order(group.column(leaf));
        let bound = |bounds: Result<ArrayRef>| {
            values(&bounds.ok().filter(|_| is_ordered)?, ty)?.swap_remove(0)
        };
        let nulls = statistics.row_group_null_counts([group]).ok()?;
        Some(Known {
            rows: u64::try_from(group.num_rows()).ok()?,
            nulls: nulls.is_valid(0).then(|| nulls.value(0)),
            min: bound(statistics.row_group_mins([group])),
            max: bound(statistics.row_group_maxes([group])),
        })
    }

    /// The rows of the pages in which a column may have a value for which the test holds.
    fn pages(&self, group: usize, column: usize, test: &Test, rows: usize) -> Option<RowSelection> {
        let Column { leaf, statistics, ty } = self.column(column)?;
        let (bounds, places) = (self.metadata().column_index()?, self.metadata().offset_index()?);
        if matches!(bounds.get(group)?.get(leaf)?, ColumnIndexMetaData::NONE) {
            return None;
        }
        let locations = places.get(group)?.get(leaf)?.page_locations();
        let starts = locations.iter().map(|page| usize::try_from(page.first_row_index).ok());
        let mut ends: Vec<usize> = starts.collect::<Option<_>>()?;
        ends.push(rows);
        let is_whole = ends.first() == Some(&0) && ends.is_sorted();
        let mins = values(&statistics.data_page_mins(bounds, places, [&group]).ok()?, ty)?;
        let maxes = values(&statistics.data_page_maxes(bounds, places, [&group]).ok()?, ty)?;
        let nulls = statistics.data_page_null_counts(bounds, places, [&group]).ok()?;
        let nulls: Vec<Option<u64>> = nulls.iter().collect();
        let pages = locations.len();
        if !is_whole || [mins.len(), maxes.len(), nulls.len()] != [pages; 3] {
            return None;
        }
        let known = mins.into_iter().zip(maxes).zip(nulls).zip(ends.windows(2));
        let needed = known.filter_map(|(((min, max), nulls), page)| {
            let known = Known { rows: (page[1] - page[0]) as u64, nulls, min, max };
            test.may_hold(&known).then_some(page[0]..page[1])
        });
        let needed: Vec<_> = needed.filter(|page| !page.is_empty()).collect();
        Some(RowSelection::from_consecutive_ranges(needed.into_iter(), rows))
    }

    fn metadata(&self) -> &'a ParquetMetaData {
        self.file.metadata()
    }

    fn group(&self, group: usize) -> &'a RowGroupMetaData {
        self.metadata().row_group(group)
    }
}

/// Whether it is known in which order the bounds are: at first all bytes were taken for signed.
fn has_order(column: &ColumnChunkMetaData) -> bool {
    column.statistics().is_some_and(|statistics| !statistics.is_min_max_deprecated())
}

/// Bounds in the file's type, as values of the table's. None, if it has no order that all agree on.
fn values(bounds: &ArrayRef, ty: &DataType) -> Option<Vec<Option<Value>>> {
    let bounds = converted(bounds, ty).ok()?;
    let ints = |ty| -> Option<Vec<Option<Value>>> {
        let ints = cast(&bounds, &ty).ok()?;
        let int = |value: Option<i64>| value.map(|value| Value::Int(value.into()));
        Some(ints.as_primitive::<Int64Type>().iter().map(int).collect())
    };
    match ty {
        DataType::Utf8View => {
            let text = |value: Option<&str>| value.map(|value| Value::Text(value.to_string()));
            Some(bounds.as_string_view().iter().map(text).collect())
        }
        DataType::Decimal128(..) => {
            let decimals = bounds.as_primitive::<Decimal128Type>();
            Some(decimals.iter().map(|value| value.map(Value::Int)).collect())
        }
        DataType::UInt64 => {
            let int = |value: Option<u64>| value.map(|value| Value::Int(value.into()));
            Some(bounds.as_primitive::<UInt64Type>().iter().map(int).collect())
        }
        ty if ty.is_integer() => ints(DataType::Int64),
        DataType::Boolean | DataType::Date32 | DataType::Timestamp(..) => ints(DataType::Int64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::file::metadata::FileMetaData;
    use parquet::file::statistics::Statistics as Said;
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    /// A file of one row group of ten numbers, with what is said of them.
    fn file(said: Said) -> ArrowReaderMetadata {
        let schema = parse_message_type("message t { optional int64 n; }").unwrap();
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        let column = ColumnChunkMetaData::builder(schema.column(0)).set_num_values(10);
        let column = column.set_statistics(said).build().unwrap();
        let group = RowGroupMetaData::builder(Arc::clone(&schema)).set_num_rows(10);
        let group = group.add_column_metadata(column).build().unwrap();
        let of_file = FileMetaData::new(2, 10, None, None, schema, None);
        let metadata = Arc::new(ParquetMetaData::new(of_file, vec![group]));
        ArrowReaderMetadata::try_new(metadata, ArrowReaderOptions::new()).unwrap()
    }

    fn may_hold(said: Said, test: Test) -> bool {
        let table = Schema::new(vec![Field::new("n", DataType::Int64, true)]);
        Statistics::new(&file(said), &table).may_hold(&RowFilter::Column(0, test), 0)
    }

    #[test]
    fn nulls_that_nobody_counted_may_be_there() {
        let counted = |nulls| Said::int64(Some(3), Some(7), None, nulls, false);
        assert!(may_hold(counted(None), Test::IsNull));
        assert!(may_hold(counted(Some(1)), Test::IsNull));
        assert!(!may_hold(counted(Some(0)), Test::IsNull));
        assert!(may_hold(counted(None), Test::IsNotNull));
        assert!(!may_hold(counted(Some(10)), Test::IsNotNull));
    }

    #[test]
    fn bounds_without_an_order_are_none() {
        let more = || Test::Greater(Value::Int(7));
        assert!(!may_hold(Said::int64(Some(3), Some(7), None, None, false), more()));
        assert!(may_hold(Said::int64(Some(3), Some(7), None, None, true), more()));
        assert!(may_hold(Said::int64(None, None, None, None, false), more()));
    }
}
