//! Files written in blocks: made by all threads at once, written in order, never more than one block a
//! thread in memory.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::{Error, Summary, WrittenFile};

/// About how large a block is: large enough to make a write worth its while.
const BLOCK_BYTES: u64 = 1 << 20;

/// A folder being filled.
pub(crate) struct Output<'a> {
    folder: &'a Path,
    progress: &'a (dyn Fn(u64) + Sync),
    files: Vec<WrittenFile>,
}

/// A table to write: `fill` appends the given rows, the same bytes whoever calls it and when.
pub(crate) struct TableFile<'a, F: Fn(Range<u64>, &mut Vec<u8>) + Sync> {
    pub name: &'a str,
    pub header: &'a str,
    pub rows: u64,
    /// About how long a row is, to cut blocks of a good size.
    pub row_bytes: u64,
    pub fill: F,
}

impl<'a> Output<'a> {
    pub(crate) fn new(folder: &'a Path, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        Self { folder, progress, files: Vec::new() }
    }

    pub(crate) fn finish(self) -> Summary {
        Summary { files: self.files }
    }

    pub(crate) fn write<F>(&mut self, table: TableFile<'_, F>) -> Result<(), Error>
    where
        F: Fn(Range<u64>, &mut Vec<u8>) + Sync,
    {
        let path = self.folder.join(table.name);
        let cannot_write = |source| Error::CannotWrite { path: path.clone(), source };
        let folder = path.parent().unwrap_or(self.folder);
        fs::create_dir_all(folder).map_err(cannot_write)?;
        let mut file = File::create(&path).map_err(cannot_write)?;
        let header = format!("{}\n", table.header);
        file.write_all(header.as_bytes()).map_err(cannot_write)?;

        let writer = OrderedWriter::new(file, header.len() as u64, self.progress);
        let rows_per_block = (BLOCK_BYTES / table.row_bytes).max(1);
        let blocks = table.rows.div_ceil(rows_per_block);
        let unclaimed = AtomicU64::new(0);
        let work = || {
            let mut buffer = Vec::with_capacity(2 * BLOCK_BYTES as usize);
            loop {
                let block = unclaimed.fetch_add(1, Ordering::Relaxed);
                if block >= blocks {
                    return;
                }
                buffer.clear();
                let first = block * rows_per_block;
                (table.fill)(first..(first + rows_per_block).min(table.rows), &mut buffer);
                if !writer.write_in_turn(block, &buffer) {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            let helpers = thread::available_parallelism().map_or(1, usize::from) as u64 - 1;
            for _ in 0..helpers.min(blocks.saturating_sub(1)) {
                scope.spawn(work);
            }
            work();
        });
        let bytes = writer.finish().map_err(cannot_write)?;
        self.files.push(WrittenFile { path, bytes });
        Ok(())
    }
}

/// Lets threads write their blocks in the order of the blocks' numbers.
///
/// Blocks are claimed in order, so the thread whose turn it is never waits for one that sleeps here.
struct OrderedWriter<'a> {
    state: Mutex<WriterState>,
    turn_changed: Condvar,
    progress: &'a (dyn Fn(u64) + Sync),
}

struct WriterState {
    file: File,
    turn: u64,
    bytes: u64,
    failure: Option<std::io::Error>,
}

impl<'a> OrderedWriter<'a> {
    fn new(file: File, bytes: u64, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        let state = WriterState { file, turn: 0, bytes, failure: None };
        Self { state: Mutex::new(state), turn_changed: Condvar::new(), progress }
    }

    /// False when writing has failed, here or in another thread: there is no point in going on.
    fn write_in_turn(&self, block: u64, buffer: &[u8]) -> bool {
        let state = self.lock();
        let mut state = self
            .turn_changed
            .wait_while(state, |state| state.turn != block && state.failure.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_none() {
            match state.file.write_all(buffer) {
                Ok(()) => state.bytes += buffer.len() as u64,
                Err(error) => state.failure = Some(error),
            }
        }
        state.turn += 1;
        let go_on = state.failure.is_none();
        drop(state);
        self.turn_changed.notify_all();
        (self.progress)(buffer.len() as u64);
        go_on
    }

    fn finish(self) -> std::io::Result<u64> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failure.map_or(Ok(state.bytes), Err)
    }

    fn lock(&self) -> MutexGuard<'_, WriterState> {
        // A poisoned lock means that a thread panicked, which the scope will report.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    #[test]
    fn blocks_are_written_in_order_whoever_makes_them() {
        let folder = tempfile::tempdir().unwrap();
        let told = AtomicU64::new(0);
        let progress = |bytes| {
            told.fetch_add(bytes, Ordering::Relaxed);
        };
        let mut output = Output::new(folder.path(), &progress);
        let fill = |rows: Range<u64>, out: &mut Vec<u8>| {
            for row in rows {
                out.extend_from_slice(format!("{row}\n").as_bytes());
            }
        };
        let table = TableFile {
            name: "a/b.csv",
            header: "n",
            rows: 1000,
            row_bytes: BLOCK_BYTES / 3,
            fill,
        };
        output.write(table).unwrap();
        let summary = output.finish();
        let text = fs::read_to_string(folder.path().join("a/b.csv")).unwrap();
        let numbers: Vec<u64> = text.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
        assert_eq!(summary.bytes(), text.len() as u64);
        assert_eq!(told.into_inner() + 2, summary.bytes());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let mut output = Output::new(Path::new("/proc/none"), &|_| {});
        let fill = |_: Range<u64>, _: &mut Vec<u8>| {};
        let table = TableFile { name: "x.csv", header: "n", rows: 1, row_bytes: 1, fill };
        let error = output.write(table).unwrap_err();
        assert_eq!(error.code(), codes::DATA_UNWRITABLE);
        assert!(error.to_string().contains("/proc/none/x.csv"));
    }
}
