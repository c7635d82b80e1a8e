//! Chunk buffers that go round: one is used again when the last text that points into it is gone.
//!
//! Fresh memory costs a page fault and a cleared page for every few kilobytes, which is a tenth of the time
//! that reading takes.

use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrow::buffer::Buffer;
use bytes::Bytes;
use caudal_core::limits;

#[derive(Debug)]
pub struct Pool {
    buffer_bytes: usize,
    idle: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    pub fn new(buffer_bytes: usize) -> Arc<Pool> {
        Arc::new(Pool { buffer_bytes, idle: Mutex::default() })
    }

    /// A buffer of the pool's size, with anything in it.
    pub fn take(&self) -> Vec<u8> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| vec![0; self.buffer_bytes])
    }

    /// Shares a part of a buffer, which comes back to the pool when all of that is let go.
    pub fn share(self: &Arc<Pool>, buffer: Vec<u8>, part: Range<usize>) -> Buffer {
        if part.len() < buffer.len() / 2 {
            // Little text must not hold much memory.
            let bytes = Buffer::from(&buffer[part]);
            self.put_back(buffer);
            return bytes;
        }
        let shared = Shared { buffer, part, pool: Arc::downgrade(self) };
        Buffer::from(Bytes::from_owner(shared))
    }

    /// Gives back a buffer that was taken.
    pub fn put_back(&self, buffer: Vec<u8>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < limits::CSV_IDLE_BUFFERS_MAX {
            idle.push(buffer);
        }
    }
}

struct Shared {
    buffer: Vec<u8>,
    part: Range<usize>,
    /// Weak, so that batches that outlive the reader do not keep its idle buffers.
    pool: Weak<Pool>,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[self.part.clone()]
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.put_back(mem::take(&mut self.buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(pool: &Pool) -> usize {
        pool.idle.lock().unwrap().len()
    }

    #[test]
    fn a_buffer_comes_back_with_its_last_user() {
        let pool = Pool::new(4);
        let mut buffer = pool.take();
        buffer.copy_from_slice(b"abcd");
        let shared = pool.share(buffer, 1..4);
        let slice = shared.slice(1);
        assert_eq!(slice.as_slice(), b"cd");
        drop(shared);
        assert_eq!(idle(&pool), 0);
        drop(slice);
        assert_eq!(idle(&pool), 1);
        assert_eq!(pool.take(), b"abcd");
    }

    #[test]
    fn little_text_gives_its_buffer_back_at_once() {
        let pool = Pool::new(100);
        let shared = pool.share(pool.take(), 0..10);
        assert_eq!((shared.len(), idle(&pool)), (10, 1));
    }
}
