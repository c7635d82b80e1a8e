//! A stretch of a row group, decoded a few thousand rows at a time.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowSelection};
use parquet::errors::ParquetError;

use super::needed::Needed;
use super::{NAME, ParquetFile};
use crate::columns::conformed_at;
use crate::error::Error;
use crate::guard::guarded;
use crate::lanes::Chunks;
use crate::position::Numbers;
use crate::size::{alone, slices};
use crate::source::{Chunk, Parsed};

/// A stretch being read. Whoever decodes has it alone: there are others.
#[derive(Debug)]
pub struct Stretch {
    file: ParquetFile,
    needs: Arc<Needed>,
    group: usize,
    numbers: Numbers,
    lane: usize,
    /// The position of the row group's first row.
    first_position: u64,
    /// Bytes of the file that it stands for.
    bytes: u64,
    state: Mutex<State>,
}

struct State {
    rows: RowSelection,
    /// None, before anybody has asked for a chunk.
    open: Option<Box<Open>>,
}

struct Open {
    reader: ParquetRecordBatchReader,
    /// Parts of what was decoded, where it was too much for a chunk.
    decoded: VecDeque<RecordBatch>,
    /// Where the row group has the rows that are still to come.
    places: VecDeque<Range<u64>>,
    next_chunk: u64,
    /// Rows so far, and those that there have to be.
    rows: usize,
    rows_said: usize,
    is_over: bool,
    /// Whether its rows are few of those of their pages, which they should not keep in memory.
    is_sparse: bool,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl Stretch {
    /// Of some rows of a row group.
    pub fn new(
        file: ParquetFile,
        needs: Arc<Needed>,
        (group, rows): (usize, RowSelection),
        (numbers, lane): (Numbers, usize),
        first_position: u64,
    ) -> Stretch {
        let bytes = needs.sizes(group).bytes_up_to(rows.row_count());
        let state = Mutex::new(State { rows, open: None });
        Stretch { file, needs, group, numbers, lane, first_position, bytes, state }
    }

    fn path(&self) -> &Arc<Path> {
        self.file.origin.path()
    }

    /// Opens it where that was not done yet.
    fn opened<'a>(&self, state: &'a mut State) -> Result<&'a mut Open, Error> {
        let open = match state.open.take() {
            Some(open) => open,
            None => Box::new(self.open(state.rows.clone())?),
        };
        Ok(state.open.insert(open))
    }

    fn open(&self, rows: RowSelection) -> Result<Open, Error> {
        let file = self.file.open()?;
        guarded(self.path(), NAME, || {
            let may_hold = rows.row_count();
            let rows = self.needs.probed(&file, self.group, rows)?;
            Ok::<_, ParquetError>(Open {
                reader: self.needs.reader(file, self.group, &rows)?,
                decoded: VecDeque::new(),
                places: places(&rows),
                next_chunk: 0,
                rows: 0,
                rows_said: rows.row_count(),
                is_over: false,
                is_sparse: rows.row_count() < may_hold,
            })
        })
    }

    fn decode(&self, open: &mut Open) -> Result<(), Error> {
        while open.decoded.is_empty() && !open.is_over {
            let next = guarded(self.path(), NAME, || open.reader.next().transpose());
            open.is_over = !matches!(next, Ok(Some(_)));
            let Some(batch) = next? else { break };
            let batch = if open.is_sparse { alone(&batch) } else { batch };
            let bytes_max = 2 * self.needs.chunk_bytes;
            open.decoded = guarded(self.path(), NAME, || {
                Ok::<_, Error>(slices(batch, bytes_max).collect::<VecDeque<_>>())
            })?;
        }
        Ok(())
    }

    /// Fails if there are fewer rows than the file says, or more.
    fn check_end(&self, open: &Open) -> Result<(), Error> {
        if open.rows == open.rows_said {
            return Ok(());
        }
        let why = format!("part of a row group has {} rows, not {}", open.rows, open.rows_said);
        Err(Error::Damaged { path: self.path().to_path_buf(), format: NAME, why })
    }

    /// The part of the file's bytes that the first so many of its rows stand for.
    fn bytes_up_to(&self, open: &Open) -> u64 {
        let (rows, all) = (open.rows.min(open.rows_said), open.rows_said.max(1));
        (u128::from(self.bytes) * rows as u128 / all as u128) as u64
    }
}

impl Chunks for Stretch {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.opened(&mut state)?;
        self.decode(open)?;
        let Some(batch) = open.decoded.pop_front() else {
            self.check_end(open)?;
            return Ok(None);
        };
        let number = self.numbers.number(self.lane, open.next_chunk)?;
        let rows = batch.num_rows();
        let before = self.bytes_up_to(open);
        let places = next_places(&mut open.places, rows);
        open.next_chunk += 1;
        open.rows += rows;
        let bytes = (self.bytes_up_to(open) - before) as usize;
        let (needs, path, first) =
            (Arc::clone(&self.needs), Arc::clone(self.path()), self.first_position);
        Ok(Some(Chunk::new(number, move || {
            let columns: Vec<_> =
                needs.order.iter().map(|at| Arc::clone(batch.column(*at))).collect();
            let positions = || positions(first, &places);
            let batch =
                guarded(&path, NAME, || conformed_at(&columns, rows, &needs.schema, positions))?;
            Ok(Parsed { batch, bytes, rejects: vec![] })
        })))
    }
}

/// The rows that are selected of a row group.
fn places(selection: &RowSelection) -> VecDeque<Range<u64>> {
    let (mut places, mut at) = (VecDeque::new(), 0);
    for selector in selection.iter() {
        let start = at;
        at += selector.row_count as u64;
        if !selector.skip {
            places.push_back(start..at);
        }
    }
    places
}

/// Takes the first so many rows; fewer, if there are no more.
fn next_places(places: &mut VecDeque<Range<u64>>, rows: usize) -> Vec<Range<u64>> {
    let (mut taken, mut left) = (vec![], rows as u64);
    while left > 0
        && let Some(place) = places.front_mut()
    {
        let end = place.end.min(place.start + left);
        taken.push(place.start..end);
        left -= end - place.start;
        place.start = end;
        if place.is_empty() {
            places.pop_front();
        }
    }
    taken
}

/// Whatever is left out, a row has the position that it has among all.
fn positions(first: u64, places: &[Range<u64>]) -> ArrayRef {
    let rows = places.iter().flat_map(|place| place.clone());
    Arc::new(UInt64Array::from_iter_values(rows.map(|row| first + row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_places() {
        let selection = RowSelection::from_consecutive_ranges([2..5, 7..8, 9..12].into_iter(), 20);
        let mut places = places(&selection);
        assert_eq!(next_places(&mut places, 2), [Range { start: 2, end: 4 }]);
        assert_eq!(next_places(&mut places, 4), [4..5, 7..8, 9..11]);
        assert_eq!(next_places(&mut places, 9), [Range { start: 11, end: 12 }]);
        assert!(next_places(&mut places, 1).is_empty());
    }
}
