//! Parts of a table that are read side by side: files, row groups.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use caudal_csv::Note;

use crate::error::Error;
use crate::source::Chunk;

/// Something that gives chunks to whichever thread asks.
pub trait Chunks: fmt::Debug + Send + Sync {
    /// The next one, or `None` at the end.
    fn next_chunk(&self) -> Result<Option<Chunk>, Error>;

    /// Once all of them have been parsed: what there is to say.
    fn notes(&self) -> Vec<Note> {
        vec![]
    }
}

/// Opens the parts, each when its turn has come.
pub trait Lanes: fmt::Debug + Send + Sync {
    fn count(&self) -> usize;

    /// Which of the table's files a lane is of.
    fn file(&self, lane: usize) -> usize;

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error>;
}

/// Reads some of the lanes at a time, so that each thread has one of its own while there are enough.
#[derive(Debug)]
pub struct SideBySide {
    lanes: Box<dyn Lanes>,
    at_once: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    open: Vec<Open>,
    /// After an error nothing more is read.
    is_closed: bool,
}

#[derive(Debug)]
struct Open {
    lane: usize,
    chunks: Arc<dyn Chunks>,
    /// Threads that wait for a chunk of it.
    users: usize,
}

/// A lane by its number, and where its chunks come from.
type Choice = (usize, Arc<dyn Chunks>);

impl SideBySide {
    pub fn new(lanes: impl Lanes + 'static) -> SideBySide {
        let at_once = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        SideBySide { lanes: Box::new(lanes), at_once, state: Mutex::default() }
    }

    /// The lane that fewest wait for; a new one, while there may be more of them.
    fn choose(&self) -> Result<Option<Choice>, Error> {
        let mut state = self.state();
        if state.is_closed {
            return Ok(None);
        }
        let has_idle = state.open.iter().any(|open| open.users == 0);
        let may_open = state.open.len() < self.at_once && state.next < self.lanes.count();
        if may_open && !has_idle {
            let lane = state.next;
            state.next += 1;
            let chunks = self.lanes.open(lane)?;
            state.open.push(Open { lane, chunks, users: 0 });
        }
        let chosen = state.open.iter_mut().min_by_key(|open| open.users);
        Ok(chosen.map(|open| {
            open.users += 1;
            (open.lane, Arc::clone(&open.chunks))
        }))
    }

    fn leave(&self, lane: usize, is_over: bool) {
        let mut state = self.state();
        if is_over {
            state.open.retain(|open| open.lane != lane);
        } else if let Some(open) = state.open.iter_mut().find(|open| open.lane == lane) {
            open.users -= 1;
        }
    }

    fn try_next_chunk(&self) -> Result<Option<Chunk>, Error> {
        while let Some((lane, chunks)) = self.choose()? {
            let chunk = chunks.next_chunk()?;
            self.leave(lane, chunk.is_none());
            if let Some(chunk) = chunk {
                return Ok(Some(chunk.of_file(self.lanes.file(lane))));
            }
        }
        Ok(None)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chunks for SideBySide {
    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let next = self.try_next_chunk();
        if next.is_err() {
            let mut state = self.state();
            state.is_closed = true;
            state.open.clear();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    #[derive(Debug)]
    struct Numbered {
        chunks_of_each: u64,
        count: usize,
        opened: Arc<AtomicU64>,
    }

    #[derive(Debug)]
    struct Lane(u64, AtomicU64, u64);

    impl Lanes for Numbered {
        fn count(&self) -> usize {
            self.count
        }

        fn file(&self, lane: usize) -> usize {
            lane
        }

        fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
            self.opened.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(Lane(lane as u64 * 100, AtomicU64::new(0), self.chunks_of_each)))
        }
    }

    impl Chunks for Lane {
        fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
            let at = self.1.fetch_add(1, Ordering::Relaxed);
            Ok((at < self.2).then(|| Chunk::new(self.0 + at, || Err(Error::TooManyChunks))))
        }
    }

    #[test]
    fn every_chunk_comes_once_however_many_read() {
        for (count, chunks_of_each, threads) in
            [(0, 5, 2), (1, 7, 4), (9, 3, 4), (5, 0, 3), (3, 50, 1)]
        {
            let opened = Arc::default();
            let lanes = Numbered { count, chunks_of_each, opened: Arc::clone(&opened) };
            let source = SideBySide::new(lanes);
            let read = || {
                let mut numbers = vec![];
                while let Some(chunk) = source.next_chunk().unwrap() {
                    numbers.push(chunk.number());
                }
                numbers
            };
            let all: Vec<u64> = thread::scope(|scope| {
                let readers: Vec<_> = (0..threads).map(|_| scope.spawn(read)).collect();
                readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
            });
            let distinct: BTreeSet<u64> = all.iter().copied().collect();
            assert_eq!(all.len(), count * chunks_of_each as usize);
            assert_eq!(distinct.len(), all.len());
            assert_eq!(opened.load(Ordering::Relaxed), count as u64);
        }
    }
}
