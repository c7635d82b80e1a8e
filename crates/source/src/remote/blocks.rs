//! An object in pieces: asked for before they are needed, and kept until they have been read.
//!
//! Whoever knows what it is going to read says so ([`Blocks::expect`]); that is cut into blocks, of which the first are asked
//! for at once, and each further one when the block before it is read. What has been read longest ago is given up for
//! what comes. Nothing depends on what was said but the time that it takes: what nobody expected is asked for when it is read.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use caudal_core::limits;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::failure::Failure;
use super::fetch::Fetch;
use super::object::Object;

/// Bytes of all objects that may be asked for before anybody waits for them.
static AHEAD: Semaphore = Semaphore::const_new(limits::REMOTE_AHEAD_BYTES_MAX);

/// Pieces of an object. To be shared by all who read it at the same time.
pub struct Blocks {
    object: Arc<Object>,
    state: Mutex<State>,
}

struct State {
    /// By their beginnings; no two of them overlap.
    blocks: BTreeMap<u64, Block>,
    /// Bytes that are kept, as long as every block that is needed has room in them.
    kept_max: u64,
    /// Blocks that are asked for before they are needed.
    ahead: usize,
    keeps: Keeps,
    clock: u64,
}

/// What is kept of what has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// As much as there is room for.
    All,
    /// The block before that which is read: whoever reads a page looks at its beginning twice.
    Last,
    Nothing,
}

struct Block {
    end: u64,
    fetch: Option<Arc<Fetch>>,
    permit: Option<SemaphorePermit<'static>>,
    is_read: bool,
    used: u64,
}

impl Blocks {
    /// Of which nothing is known yet.
    pub fn new(object: Arc<Object>) -> Blocks {
        let kept_max = limits::REMOTE_KEPT_BYTES_MAX as u64;
        Blocks { object, state: Mutex::new(State::new(kept_max, 1, Keeps::All)) }
    }

    /// A range that is read once, from its beginning to its end.
    pub fn in_order(object: Arc<Object>, range: Range<u64>, ahead: usize) -> Blocks {
        let bytes = limits::REMOTE_REQUEST_BYTES as u64;
        let mut state = State::new(bytes * (ahead as u64 + 1), ahead, Keeps::Nothing);
        state.blocks =
            cut(range, bytes).map(|range| (range.start, Block::new(range.end))).collect();
        Blocks { object, state: Mutex::new(state) }
    }

    pub fn bytes(&self) -> u64 {
        self.object.bytes()
    }

    /// These ranges will be read, each from its beginning to its end, all at the same time.
    pub fn expect(&self, ranges: Vec<Range<u64>>) -> Result<(), Failure> {
        let mut state = self.state();
        let within = |range: Range<u64>| range.start..range.end.min(self.object.bytes());
        let ranges: Vec<Range<u64>> = ranges.into_iter().map(within).collect();
        let planned = planned(ranges.clone(), state.kept_max);
        let bytes: u64 = planned.iter().map(|range| range.end - range.start).sum();
        for range in planned {
            for free in state.free(range) {
                state.blocks.insert(free.start, Block::new(free.end));
            }
        }
        // All of it if there is room, or else the beginning of each.
        let mut starts: Vec<u64> = state.blocks.keys().copied().collect();
        if bytes > state.kept_max {
            state.keeps = Keeps::Last;
            starts.retain(|start| ranges.iter().any(|range| range.start == *start));
        }
        starts.into_iter().try_for_each(|start| state.ask_ahead(&self.object, start))
    }

    /// Some of the bytes from a place on, at least one unless that is the end.
    pub fn some(&self, at: u64) -> Result<Bytes, Failure> {
        self.some_of(at, 1)
    }

    /// As many bytes from a place on; they have to be there.
    pub fn exactly(&self, at: u64, len: usize) -> Result<Bytes, Failure> {
        let mut first = self.some_of(at, len)?;
        if first.len() >= len {
            return Ok(first.split_to(len));
        }
        let mut all = Vec::with_capacity(len);
        while all.len() < len {
            let next = self.some_of(at + all.len() as u64, len - all.len())?;
            if next.is_empty() {
                return Err(Failure::Unreadable("it ends too early".into()));
            }
            all.extend_from_slice(&next[..next.len().min(len - all.len())]);
        }
        Ok(all.into())
    }

    /// Bytes from a place on, of which so many are wanted.
    fn some_of(&self, at: u64, wanted: usize) -> Result<Bytes, Failure> {
        if at >= self.object.bytes() {
            return Ok(Bytes::new());
        }
        let head = self.object.head();
        let end = at.saturating_add(wanted as u64).min(self.object.bytes());
        if end <= head.len() as u64 {
            return Ok(head.slice(at as usize..));
        }
        let (start, fetch) = self.state().block_at(&self.object, at, wanted)?;
        Ok(fetch.wait()?.slice((at - start) as usize..))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    fn new(end: u64) -> Block {
        Block { end, fetch: None, permit: None, is_read: false, used: 0 }
    }

    fn give_up(&mut self) {
        (self.fetch, self.permit) = (None, None);
    }
}

impl State {
    fn new(kept_max: u64, ahead: usize, keeps: Keeps) -> State {
        State { blocks: BTreeMap::new(), kept_max, ahead, keeps, clock: 0 }
    }

    /// The block that has this byte, on its way.
    fn block_at(
        &mut self,
        object: &Arc<Object>,
        at: u64,
        wanted: usize,
    ) -> Result<(u64, Arc<Fetch>), Failure> {
        let start = match self.blocks.range(..=at).next_back() {
            Some((start, block)) if block.end > at => *start,
            before => {
                let free_from = before.map_or(0, |(_, block)| block.end);
                let free_to =
                    self.blocks.range(at..).next().map_or(object.bytes(), |(next, _)| *next);
                let range = unexpected(at, wanted, free_from..free_to, object.bytes());
                self.blocks.insert(range.start, Block::new(range.end));
                range.start
            }
        };
        let fetch = self.ask(object, start)?;
        self.has_come_to(start);
        let next = self.blocks.range(start + 1..).map(|(next, _)| *next);
        let next: Vec<u64> = next.take(self.ahead).collect();
        next.into_iter().try_for_each(|next| self.ask_ahead(object, next))?;
        self.give_up(start);
        Ok((start, fetch))
    }

    /// Gives up what will not be read again.
    fn has_come_to(&mut self, start: u64) {
        if let Some(block) = self.blocks.get_mut(&start) {
            block.is_read = true;
        }
        let before = |at: u64| {
            let (start, block) = self.blocks.range(..at).next_back()?;
            (block.end == at).then_some((*start, block.is_read))
        };
        match self.keeps {
            Keeps::All => {}
            Keeps::Nothing => self.blocks = self.blocks.split_off(&start),
            Keeps::Last => {
                let Some((last, true)) = before(start) else { return };
                let Some((old, _)) = before(last) else { return };
                self.blocks.entry(old).and_modify(Block::give_up);
            }
        }
    }

    fn ask(&mut self, object: &Arc<Object>, start: u64) -> Result<Arc<Fetch>, Failure> {
        self.clock += 1;
        let Some(block) = self.blocks.get_mut(&start) else { return Err(Failure::ended()) };
        block.used = self.clock;
        if let Some(fetch) = &block.fetch {
            return Ok(Arc::clone(fetch));
        }
        let fetch = Arc::new(Fetch::start(Arc::clone(object), start..block.end)?);
        block.fetch = Some(Arc::clone(&fetch));
        Ok(fetch)
    }

    /// Unless too much is on its way already.
    fn ask_ahead(&mut self, object: &Arc<Object>, start: u64) -> Result<(), Failure> {
        let kept = self.kept();
        let Some(block) = self.blocks.get_mut(&start).filter(|block| block.fetch.is_none()) else {
            return Ok(());
        };
        let bytes = block.end - start;
        if kept + bytes > self.kept_max {
            return Ok(());
        }
        let Ok(permit) = AHEAD.try_acquire_many(bytes as u32) else { return Ok(()) };
        block.permit = Some(permit);
        self.ask(object, start).map(drop)
    }

    /// What was used longest ago, as long as too much is kept.
    fn give_up(&mut self, but: u64) {
        while self.kept() > self.kept_max {
            let kept = self
                .blocks
                .iter_mut()
                .filter(|(start, block)| **start != but && block.fetch.is_some());
            let Some((_, block)) = kept.min_by_key(|(_, block)| block.used) else { return };
            block.give_up();
        }
    }

    fn kept(&self) -> u64 {
        let kept = self.blocks.iter().filter(|(_, block)| block.fetch.is_some());
        kept.map(|(start, block)| block.end - start).sum()
    }

    /// The parts of a range that are in no block.
    fn free(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let before = self.blocks.range(..=range.start).next_back();
        let within = self.blocks.range(range.start + 1..range.end.max(range.start + 1));
        let (mut free, mut at) = (vec![], range.start);
        for (start, block) in before.into_iter().chain(within) {
            if *start > at {
                free.push(at..*start);
            }
            at = at.max(block.end);
        }
        if at < range.end {
            free.push(at..range.end);
        }
        free
    }
}

/// Ranges as blocks: what lies close together is one, where all of it can be kept.
fn planned(mut ranges: Vec<Range<u64>>, kept_max: u64) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let whole = joined(&ranges, limits::REMOTE_GAP_BYTES_MAX);
    let bytes: u64 = whole.iter().map(|range| range.end - range.start).sum();
    if bytes <= kept_max {
        let bytes = limits::REMOTE_REQUEST_BYTES as u64;
        return whole.into_iter().flat_map(|range| cut(range, bytes)).collect();
    }
    // Of each there is room for the one that is read, the last and the next.
    let apart = joined(&ranges, 0);
    let (least, most) =
        (limits::REMOTE_REQUEST_BYTES_MIN as u64, limits::REMOTE_REQUEST_BYTES as u64);
    let bytes = (kept_max / (3 * ranges.len() as u64)).clamp(least, most);
    apart.into_iter().flat_map(|range| cut(range, bytes)).collect()
}

/// Ranges in their order, without those between which there is less than a gap.
fn joined(ranges: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = vec![];
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end.saturating_add(gap) => {
                last.end = last.end.max(range.end)
            }
            _ => joined.push(range.clone()),
        }
    }
    joined
}

fn cut(range: Range<u64>, bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let count = (range.end - range.start).div_ceil(bytes);
    (0..count).map(move |at| {
        let start = range.start + at * bytes;
        start..(start + bytes).min(range.end)
    })
}

/// What is asked for where nothing was expected: more than is wanted, for more is wanted soon; and of the end of an object, where
/// footers are, what may be before it.
fn unexpected(at: u64, wanted: usize, free: Range<u64>, object_bytes: u64) -> Range<u64> {
    let wanted = wanted.max(limits::REMOTE_REQUEST_BYTES_MIN) as u64;
    let end = at.saturating_add(wanted).min(free.end);
    let tail = object_bytes.saturating_sub(limits::REMOTE_TAIL_BYTES as u64);
    let start = if end == object_bytes { at.min(tail).max(free.start) } else { at };
    start..end
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blocks of {:?}", self.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_close_together_is_one_request() {
        let gap = limits::REMOTE_GAP_BYTES_MAX;
        let far = 100 + 2 * gap;
        assert_eq!(
            planned(vec![far..far + 9, 50..60, 10..20, 7..7], 1 << 30),
            [10..60, far..far + 9]
        );
        let request = limits::REMOTE_REQUEST_BYTES as u64;
        let larger = std::iter::once(0..request + 1).collect();
        assert_eq!(planned(larger, 1 << 30), [0..request, request..request + 1]);
    }

    #[test]
    fn large_columns_come_in_requests_that_have_room() {
        let columns: Vec<_> = (0..4u64).map(|at| at << 24..(at + 1) << 24).collect();
        let planned = planned(columns, 8 << 20);
        assert_eq!(planned[0], 0..(8 << 20) / 12);
        assert!(planned.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(planned.last().map(|range| range.end), Some(4 << 24));
    }

    #[test]
    fn the_end_comes_with_what_is_before_it() {
        let (size, tail) = (1 << 30, limits::REMOTE_TAIL_BYTES as u64);
        assert_eq!(unexpected(size - 8, 8, 0..size, size), size - tail..size);
        assert_eq!(unexpected(size - 8, 8, size - 20..size, size), size - 20..size);
        assert_eq!(unexpected(100, 8, 90..size, size), 100..100 + (64 << 10));
        assert_eq!(unexpected(100, 8, 90..120, size), 100..120);
        assert_eq!(unexpected(3, 8, 0..20, 20), 0..20);
    }
}
