//! A row group, decoded a few thousand rows at a time.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal_core::limits;
use caudal_csv::Options;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::{NAME, rows_at_once};
use crate::at::FileAt;
use crate::columns::conformed;
use crate::error::Error;
use crate::guard::guarded;
use crate::lanes::Chunks;
use crate::position::Numbers;
use crate::size::slices;
use crate::source::{Chunk, Parsed};

/// What is needed of the row groups of a file.
#[derive(Debug)]
pub struct Needed {
    mask: ProjectionMask,
    /// Of each needed column, its place among those that are read.
    order: Vec<usize>,
    schema: SchemaRef,
    chunk_bytes: usize,
    /// Of each row group: rows, and bytes as they are in the file and as they are decoded.
    groups: Vec<Sizes>,
}

#[derive(Clone, Copy, Debug)]
struct Sizes {
    rows: u64,
    bytes: u64,
    decoded_bytes: u64,
}

impl Needed {
    pub fn new(
        metadata: &ArrowReaderMetadata,
        columns: Vec<usize>,
        schema: &SchemaRef,
        options: &Options,
    ) -> Needed {
        let descriptor = metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(descriptor, columns.iter().copied());
        // They are read in the order in which the file has them.
        let mut read = columns.clone();
        read.sort_unstable();
        let order = columns.iter().map(|column| read.partition_point(|other| other < column));
        let sizes = |group: &RowGroupMetaData| sizes(group, &mask);
        let groups = metadata.metadata().row_groups().iter().map(sizes).collect();
        Needed {
            order: order.collect(),
            schema: Arc::clone(schema),
            chunk_bytes: options.chunk_bytes.max(1),
            groups,
            mask,
        }
    }

    pub fn bytes_of(&self, group: usize) -> u64 {
        self.groups[group].bytes
    }

    /// Where in the file a row group's columns are.
    pub fn ranges(&self, metadata: &ArrowReaderMetadata, group: usize) -> Vec<Range<u64>> {
        let columns = metadata.metadata().row_group(group).columns().iter().enumerate();
        let columns = columns.filter(|(at, _)| self.mask.leaf_included(*at));
        columns
            .map(|(_, column)| column.byte_range())
            .map(|(start, bytes)| start..start.saturating_add(bytes))
            .collect()
    }

    pub fn reader(
        &self,
        file: FileAt,
        metadata: &ArrowReaderMetadata,
        group: usize,
    ) -> Result<ParquetRecordBatchReader, ParquetError> {
        let Sizes { rows, decoded_bytes, .. } = self.groups[group];
        let rows = match self.order.is_empty() {
            // They are only counted.
            true => {
                limits::FRAGMENT_ROWS_MAX.min(usize::try_from(rows).unwrap_or(usize::MAX).max(1))
            }
            false => rows_at_once(decoded_bytes, rows, self.chunk_bytes),
        };
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(self.mask.clone())
            .with_row_groups(vec![group])
            .with_batch_size(rows)
            .build()
    }
}

fn sizes(group: &RowGroupMetaData, mask: &ProjectionMask) -> Sizes {
    let columns = group.columns().iter().enumerate();
    let columns = columns.filter(|(at, _)| mask.leaf_included(*at));
    let (mut bytes, mut decoded_bytes) = (0u64, 0u64);
    for (_, column) in columns {
        bytes = bytes.saturating_add(u64::try_from(column.compressed_size()).unwrap_or(0));
        let decoded = u64::try_from(column.uncompressed_size()).unwrap_or(0);
        decoded_bytes = decoded_bytes.saturating_add(decoded);
    }
    Sizes { rows: u64::try_from(group.num_rows()).unwrap_or(0), bytes, decoded_bytes }
}

/// A row group being read. Whoever decodes has it alone: there are others.
#[derive(Debug)]
pub struct RowGroup {
    path: Arc<Path>,
    needs: Arc<Needed>,
    group: usize,
    numbers: Numbers,
    lane: usize,
    state: Mutex<State>,
}

struct State {
    reader: ParquetRecordBatchReader,
    /// Parts of what was decoded, where it was too much for a chunk.
    decoded: VecDeque<RecordBatch>,
    next_chunk: u64,
    rows: u64,
    is_over: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl RowGroup {
    pub fn new(
        path: Arc<Path>,
        reader: ParquetRecordBatchReader,
        needs: Arc<Needed>,
        group: usize,
        (numbers, lane): (Numbers, usize),
    ) -> RowGroup {
        let state =
            State { reader, decoded: VecDeque::new(), next_chunk: 0, rows: 0, is_over: false };
        RowGroup { path, needs, group, numbers, lane, state: Mutex::new(state) }
    }

    fn decode(&self, state: &mut State) -> Result<(), Error> {
        while state.decoded.is_empty() && !state.is_over {
            let next = guarded(&self.path, NAME, || state.reader.next().transpose());
            state.is_over = !matches!(next, Ok(Some(_)));
            let Some(batch) = next? else { break };
            let bytes_max = 2 * self.needs.chunk_bytes;
            state.decoded = guarded(&self.path, NAME, || {
                Ok::<_, Error>(slices(batch, bytes_max).collect::<VecDeque<_>>())
            })?;
        }
        Ok(())
    }

    /// Fails if there are fewer rows than the file says.
    fn check_end(&self, state: &State) -> Result<(), Error> {
        let said = self.needs.groups[self.group].rows;
        if state.rows == said {
            return Ok(());
        }
        let why = format!("a row group has {} rows instead of {said}", state.rows);
        Err(Error::Damaged { path: self.path.to_path_buf(), format: NAME, why })
    }

    /// The part of the file's bytes that so many rows stand for.
    fn bytes_up_to(&self, rows: u64) -> u64 {
        let Sizes { rows: all, bytes, .. } = self.needs.groups[self.group];
        (u128::from(bytes) * u128::from(rows.min(all)) / u128::from(all.max(1))) as u64
    }
}

impl Chunks for RowGroup {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.decode(&mut state)?;
        let Some(batch) = state.decoded.pop_front() else {
            self.check_end(&state)?;
            return Ok(None);
        };
        let number = self.numbers.number(self.lane, state.next_chunk)?;
        let rows = batch.num_rows();
        let before = self.bytes_up_to(state.rows);
        state.next_chunk += 1;
        state.rows += rows as u64;
        let bytes = (self.bytes_up_to(state.rows) - before) as usize;
        let (needs, path) = (Arc::clone(&self.needs), Arc::clone(&self.path));
        Ok(Some(Chunk::new(number, move || {
            let columns: Vec<_> =
                needs.order.iter().map(|at| Arc::clone(batch.column(*at))).collect();
            let batch = guarded(&path, NAME, || conformed(&columns, rows, &needs.schema, number))?;
            Ok(Parsed { batch, bytes, rejects: vec![] })
        })))
    }
}
