//! The files of a table as numbered chunks of whole records.
//!
//! Threads read blocks side by side, without a lock. Only finding where the last record of a block ends
//! needs to know how the block before it ended: for that they take turns, at memory speed.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::blocks::{Block, Blocks};
use crate::chunk::Chunk;
use crate::cutter::{Cutter, Filled, headroom_bytes};
use crate::encoding::Encoding;
use crate::error::Error;
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
    state: Mutex<State>,
    /// Told when `next_turn` or `is_closed` changes.
    turned: Condvar,
}

#[derive(Debug)]
struct State {
    blocks: Blocks,
    /// The number of the block to be cut next.
    next_turn: u64,
    cutter: Cutter,
    next_chunk: u64,
    /// After an error nothing more is read.
    is_closed: bool,
}

impl Stream {
    pub fn new(files: impl IntoIterator<Item = Layout>, syntax: Syntax, limits: Limits) -> Stream {
        let headroom_bytes = headroom_bytes(limits.chunk_bytes);
        let pool = Pool::new(headroom_bytes + limits.growth_max * limits.chunk_bytes.max(4) + 1);
        Stream {
            headroom_bytes,
            state: Mutex::new(State {
                blocks: Blocks::new(files, limits.chunk_bytes),
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
            let mut state = self.state();
            state.is_closed = true;
            state.blocks.close();
            self.turned.notify_all();
        }
        next
    }

    fn try_next_chunk(&self) -> Result<Option<Chunk>, Error> {
        loop {
            let Some(block) = self.state().blocks.take()? else {
                return Ok(None);
            };
            let filled = self.read(&block)?;
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

    fn read(&self, block: &Block) -> Result<Filled, Error> {
        let headroom_bytes = self.headroom_bytes;
        let mut buffer = self.pool.take();
        if block.layout.encoding == Encoding::Utf8 {
            block.read(&mut buffer[headroom_bytes..][..block.len])?;
            return Ok(Filled { buffer, headroom_bytes, text_bytes: block.len });
        }
        let buffer_bytes = buffer.len();
        buffer.truncate(headroom_bytes);
        block.decode(&mut buffer)?;
        let text_bytes = buffer.len() - headroom_bytes;
        assert!(headroom_bytes + text_bytes < buffer_bytes, "no encoding grows more than it says");
        buffer.resize(buffer_bytes, 0);
        Ok(Filled { buffer, headroom_bytes, text_bytes })
    }

    fn wait_for_turn(&self, number: u64) -> MutexGuard<'_, State> {
        let is_waiting = |state: &mut State| state.next_turn != number && !state.is_closed;
        self.turned.wait_while(self.state(), is_waiting).unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cut(&mut self, block: &Block, filled: Filled) -> Result<Option<Chunk>, Error> {
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
