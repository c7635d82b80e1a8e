//! What is needed of a file: some of its columns, and of the rows those that may be needed.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use caudal_core::limits;
use caudal_csv::Options;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::probe::Probe;
use crate::at::FileAt;
use crate::guard::keep;

/// What is needed of the row groups of a file.
#[derive(Debug)]
pub struct Needed {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Of each needed column, its place among those that are read.
    pub order: Vec<usize>,
    pub schema: SchemaRef,
    pub chunk_bytes: usize,
    groups: Vec<Sizes>,
    probe: Option<Probe>,
}

/// Of a row group: rows, and bytes of the needed columns as they are in the file and about as they are decoded.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub rows: usize,
    bytes: u64,
    decoded_bytes: u64,
    /// Of the filter's columns alone.
    probed_bytes: u64,
}

impl Needed {
    pub fn new(
        metadata: ArrowReaderMetadata,
        columns: Vec<usize>,
        schema: &SchemaRef,
        table: &Schema,
        options: &Options,
    ) -> Needed {
        let descriptor = metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(descriptor, columns.iter().copied());
        // They are read in the order in which the file has them.
        let mut read = columns.clone();
        read.sort_unstable();
        let order = columns.iter().map(|column| read.partition_point(|other| other < column));
        let probe = options.rows.as_ref().and_then(|filter| Probe::of(filter, &metadata, table));
        let sizes = |group: &RowGroupMetaData| sizes(group, &mask, probe.as_ref());
        let groups = metadata.metadata().row_groups().iter().map(sizes).collect();
        Needed {
            order: order.collect(),
            schema: Arc::clone(schema),
            chunk_bytes: options.chunk_bytes.max(1),
            groups,
            probe,
            mask,
            metadata,
        }
    }

    pub fn sizes(&self, group: usize) -> Sizes {
        self.groups[group]
    }

    /// The parts of a row group that threads decode side by side.
    pub fn stretches(&self, group: usize, is_far: bool) -> impl Iterator<Item = Range<usize>> {
        let sizes = self.groups[group];
        let count = match self.order.is_empty() || is_far {
            // They are only counted, or each part would be asked for by each thread.
            true => 1,
            false => sizes.stretches(),
        };
        let rows_of_each = sizes.rows.div_ceil(count).max(1);
        (0..sizes.rows)
            .step_by(rows_of_each)
            .map(move |start| start..sizes.rows.min(start + rows_of_each))
    }

    /// The rows that are left of these after a look at the filter's columns, where that can be worth it.
    pub fn probed(
        &self,
        file: &FileAt,
        group: usize,
        rows: RowSelection,
    ) -> Result<RowSelection, ParquetError> {
        let Sizes { decoded_bytes, probed_bytes, .. } = self.groups[group];
        let others = decoded_bytes.saturating_sub(probed_bytes);
        match &self.probe {
            Some(probe) if others / limits::PROBE_BYTES_OF_EACH >= probed_bytes => {
                keep(file.expect(|| self.ranges(probe.mask(), group, &rows)))?;
                Ok(probe.rows(file.clone(), group, &rows)?.unwrap_or(rows))
            }
            _ => Ok(rows),
        }
    }

    /// Where in the file those rows of a row group are: of each column its pages, where they are known, or all of it.
    fn ranges(&self, mask: &ProjectionMask, group: usize, rows: &RowSelection) -> Vec<Range<u64>> {
        let metadata = self.metadata.metadata();
        let is_all = rows.row_count() == self.groups[group].rows;
        let pages = metadata.offset_index().and_then(|pages| pages.get(group));
        let columns = metadata.row_group(group).columns().iter().enumerate();
        let mut ranges = vec![];
        for (at, column) in columns.filter(|(at, _)| mask.leaf_included(*at)) {
            let (start, bytes) = column.byte_range();
            let pages = pages.and_then(|pages| pages.get(at)).map(|pages| pages.page_locations());
            match pages.and_then(|pages| Some((pages, pages.first()?))) {
                Some((pages, first)) if !is_all => {
                    // What is before the first page is a dictionary for all of them.
                    ranges.push(start..u64::try_from(first.offset).unwrap_or(start).max(start));
                    ranges.extend(rows.scan_ranges(pages));
                }
                _ => ranges.push(start..start.saturating_add(bytes)),
            }
        }
        ranges
    }

    /// Decodes those rows of a row group.
    pub fn reader(
        &self,
        file: FileAt,
        group: usize,
        rows: &RowSelection,
    ) -> Result<ParquetRecordBatchReader, ParquetError> {
        keep(file.expect(|| self.ranges(&self.mask, group, rows)))?;
        let sizes = self.groups[group];
        let at_once = match self.order.is_empty() {
            // They are only counted.
            true => limits::FRAGMENT_ROWS_MAX.min(sizes.rows.max(1)),
            false => rows_at_once(sizes.decoded_bytes, sizes.rows as u64, self.chunk_bytes),
        };
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(self.mask.clone())
                .with_row_groups(vec![group])
                .with_batch_size(at_once);
        let is_all = rows.row_count() == sizes.rows;
        if is_all { reader.build() } else { reader.with_row_selection(rows.clone()).build() }
    }
}

impl Sizes {
    fn stretches(&self) -> usize {
        let rows = self.rows as u64;
        let by_rows = rows.div_ceil(limits::STRETCH_ROWS_MAX);
        let by_bytes = self.decoded_bytes.div_ceil(limits::STRETCH_BYTES_MAX);
        let most = (rows / limits::STRETCH_ROWS_MIN).min(limits::ROW_GROUP_SLICES_MAX);
        by_rows.max(by_bytes).min(most).max(1) as usize
    }

    /// The part of the file's bytes that so many rows stand for.
    pub fn bytes_up_to(&self, rows: usize) -> u64 {
        let (rows, all) = (rows.min(self.rows) as u128, self.rows.max(1) as u128);
        (u128::from(self.bytes) * rows / all) as u64
    }
}

fn sizes(group: &RowGroupMetaData, mask: &ProjectionMask, probe: Option<&Probe>) -> Sizes {
    let rows = u64::try_from(group.num_rows()).unwrap_or(0);
    let columns = group.columns().iter().enumerate();
    let columns = columns.filter(|(at, _)| mask.leaf_included(*at));
    let (mut bytes, mut decoded_bytes, mut probed_bytes) = (0u64, 0u64, 0u64);
    for (at, column) in columns {
        bytes = bytes.saturating_add(u64::try_from(column.compressed_size()).unwrap_or(0));
        let decoded = decoded_bytes_of(column, rows);
        decoded_bytes = decoded_bytes.saturating_add(decoded);
        if probe.is_some_and(|probe| probe.mask().leaf_included(at)) {
            probed_bytes = probed_bytes.saturating_add(decoded);
        }
    }
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    Sizes { rows, bytes, decoded_bytes, probed_bytes }
}

/// As the footer says them, which counts values of a dictionary once; they are decoded into one view for each row.
fn decoded_bytes_of(column: &ColumnChunkMetaData, rows: u64) -> u64 {
    let width = match column.column_type() {
        Type::BOOLEAN => 0,
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE | Type::INT96 => 8,
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => 16,
    };
    u64::try_from(column.uncompressed_size()).unwrap_or(0).max(rows.saturating_mul(width))
}

/// Rows that are decoded at a time, so that they take about so many bytes.
fn rows_at_once(bytes: u64, rows: u64, wanted_bytes: usize) -> usize {
    let bytes_of_each = (bytes / rows.max(1)).max(1);
    let wanted = wanted_bytes as u64 / bytes_of_each;
    (wanted as usize).clamp(limits::DECODED_ROWS_MIN, limits::DECODED_ROWS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_rows_are_decoded_few_at_a_time() {
        assert_eq!(rows_at_once(8_000_000, 1_000_000, 4 << 20), limits::DECODED_ROWS_MAX);
        assert_eq!(rows_at_once(1_000_000_000, 1_000_000, 4 << 20), 4194);
        assert_eq!(rows_at_once(u64::MAX, 1, 1), limits::DECODED_ROWS_MIN);
        assert_eq!(rows_at_once(0, 0, 1 << 20), limits::DECODED_ROWS_MAX);
    }

    #[test]
    fn large_row_groups_are_for_several_threads() {
        let stretches = |rows, decoded_bytes| {
            Sizes { rows, bytes: 0, decoded_bytes, probed_bytes: 0 }.stretches()
        };
        assert_eq!(stretches(0, 0), 1);
        assert_eq!(stretches(100_000, 1 << 20), 1);
        assert_eq!(stretches(1 << 20, 8 << 20), 4, "many rows");
        assert_eq!(stretches(1 << 18, 1 << 30), 8, "few and wide ones, and none too few");
        assert_eq!(stretches(1000, u64::MAX), 1);
        assert_eq!(
            stretches(usize::MAX, 0),
            limits::ROW_GROUP_SLICES_MAX as usize,
            "whatever a footer says"
        );
    }

    #[test]
    fn bytes_are_shared_out_among_rows() {
        let sizes = Sizes { rows: 3, bytes: 100, decoded_bytes: 0, probed_bytes: 0 };
        let bytes: Vec<u64> = (0..5).map(|rows| sizes.bytes_up_to(rows)).collect();
        assert_eq!(bytes, [0, 33, 66, 100, 100]);
        let none = Sizes { rows: 0, bytes: 7, decoded_bytes: 0, probed_bytes: 0 };
        assert_eq!(none.bytes_up_to(0), 0);
    }
}
