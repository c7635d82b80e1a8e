//! The files of a table as numbered chunks of whole records.
//!
//! Threads read blocks side by side, without a lock. Only finding where the last record of a block ends
//! needs to know how the block before it ended: for that they take turns, at memory speed.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::blocks::{Block, Blocks};
use crate::chunk::Chunk;
use crate::cutter::{self, Cutter, headroom_bytes};
use crate::error::Error;
use crate::input::Body;
use crate::layout::Layout;
use crate::pool::Pool;
use crate::syntax::Syntax;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub chunk_bytes: usize,
    /// Bytes of text that one of a block becomes, at most.
    pub growth_max: usize,
    pub record_bytes_max: usize,
}

#[derive(Debug)]
pub struct Stream {
    headroom_bytes: usize,
    pool: Arc<Pool>,
    /// Apart from the state: who waits for a pipe must not keep others from what has come already.
    blocks: Mutex<Blocks>,
    state: Mutex<State>,
    /// Told when `next_turn` or `is_closed` changes.
    turned: Condvar,
}

#[derive(Debug)]
struct State {
    /// The number of the block to be cut next.
    next_turn: u64,
    cutter: Cutter,
    next_chunk: u64,
    /// After an error nothing more is read.
    is_closed: bool,
}

impl Stream {
    pub fn of_files(
        files: impl IntoIterator<Item = Layout>,
        syntax: Syntax,
        limits: Limits,
    ) -> Stream {
        let of_files = |pool| Blocks::of_files(files, limits.chunk_bytes, pool);
        Stream::new(of_files, syntax, limits)
    }

    /// Of one file whose bytes come in their order.
    pub fn of_input(layout: Layout, body: Body, syntax: Syntax, limits: Limits) -> Stream {
        Stream::new(
            |pool| Blocks::of_stream(layout, body, limits.chunk_bytes, pool),
            syntax,
            limits,
        )
    }

    fn new(blocks: impl FnOnce(Arc<Pool>) -> Blocks, syntax: Syntax, limits: Limits) -> Stream {
        let headroom_bytes = headroom_bytes(limits.chunk_bytes);
        let pool = Pool::new(headroom_bytes + limits.growth_max * limits.chunk_bytes.max(4) + 1);
        Stream {
            headroom_bytes,
            blocks: Mutex::new(blocks(Arc::clone(&pool))),
            state: Mutex::new(State {
                next_turn: 0,
                cutter: Cutter::new(pool.clone(), syntax, limits.record_bytes_max),
                next_chunk: 0,
                is_closed: false,
            }),
            pool,
            turned: Condvar::new(),
        }
    }

    /// The next chunk, or `None` at the end of the last file, and after an error.
    pub fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let next = self.try_next_chunk();
        if next.is_err() {
            // Whoever waits for a turn first: the blocks may be in the hands of one who waits for a pipe.
            self.state().is_closed = true;
            self.turned.notify_all();
            self.blocks().close();
        }
        next
    }

    fn try_next_chunk(&self) -> Result<Option<Chunk>, Error> {
        loop {
            let Some(mut block) = self.blocks().take()? else {
                return Ok(None);
            };
            let filled = block.read(&self.pool, self.headroom_bytes)?;
            let mut state = self.wait_for_turn(block.number);
            if state.is_closed {
                return Ok(None);
            }
            let chunk = state.cut(&block, filled)?;
            state.next_turn += 1;
            self.turned.notify_all();
            if chunk.is_some() {
                return Ok(chunk);
            }
        }
    }

    fn wait_for_turn(&self, number: u64) -> MutexGuard<'_, State> {
        let is_waiting = |state: &mut State| state.next_turn != number && !state.is_closed;
        self.turned.wait_while(self.state(), is_waiting).unwrap_or_else(PoisonError::into_inner)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cut(&mut self, block: &Block, filled: cutter::Filled) -> Result<Option<Chunk>, Error> {
        let Some(records) = self.cutter.cut(block, filled)? else {
            return Ok(None);
        };
        let number = self.next_chunk;
        self.next_chunk += 1;
        Ok(Some(Chunk {
            number,
            layout: block.layout.clone(),
            bytes: records.bytes,
            first_line: records.first_line,
            consumed_bytes: records.consumed_bytes,
        }))
    }
}
