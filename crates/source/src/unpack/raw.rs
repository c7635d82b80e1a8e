//! Bytes as they are in a file, with what has to be known of them while they are decompressed.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use caudal_csv::Input;

use crate::remote::Failure;

const BUFFER_BYTES: usize = 128 << 10;

/// Bytes of a file, counted.
pub struct Raw {
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    /// Of the next byte in the file.
    offset: Arc<AtomicU64>,
    /// Somebody wanted a byte that is not there.
    is_short: bool,
    /// The file itself could not be read.
    has_failed: bool,
    /// Why, where it is on the net: some decoders make errors of their own of it.
    failure: FailureOf,
}

/// What became of the net, for whoever reads what is made of it.
pub type FailureOf = Arc<Mutex<Option<Failure>>>;

impl Raw {
    /// What has been taken is counted in `offset`.
    pub fn new(input: Input, offset: Arc<AtomicU64>) -> Raw {
        let (is_short, has_failed, failure) = (false, false, FailureOf::default());
        Raw { input, buffer: vec![], at: 0, offset, is_short, has_failed, failure }
    }

    pub fn failure(&self) -> FailureOf {
        Arc::clone(&self.failure)
    }

    pub fn is_short(&self) -> bool {
        self.is_short
    }

    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// What comes next, `bytes` of it if there is so much; it stays.
    pub fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.at < bytes {
            if self.read_more()? == 0 {
                break;
            }
        }
        Ok(&self.buffer[self.at..])
    }

    /// Reads on after what is left in the buffer; 0 at the end.
    fn read_more(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let left = self.buffer.len();
        self.buffer.resize(left.max(BUFFER_BYTES / 2) + BUFFER_BYTES / 2, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[left..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(left + read.as_ref().copied().unwrap_or(0));
        if let Err(error) = &read {
            self.has_failed = true;
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            *failure = Failure::of_io(error).cloned();
        }
        read
    }
}

impl BufRead for Raw {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.is_short |= self.read_more()? == 0;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        self.offset.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Read for Raw {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let bytes = available.len().min(into.len());
        into[..bytes].copy_from_slice(&available[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_peeked_at_is_read_later() {
        let offset = Arc::new(AtomicU64::new(0));
        let mut raw = Raw::new(Box::new(&b"abcdef"[..]), Arc::clone(&offset));
        assert_eq!(raw.peek(3).unwrap(), b"abcdef");
        let mut two = [0; 2];
        raw.read_exact(&mut two).unwrap();
        assert_eq!((&two, offset.load(Ordering::Relaxed)), (b"ab", 2));
        assert_eq!(raw.peek(100).unwrap(), b"cdef");
        assert!(!raw.is_short());
        let mut rest = vec![];
        raw.read_to_end(&mut rest).unwrap();
        assert_eq!((&rest[..], raw.is_short()), (&b"cdef"[..], true));
        assert_eq!(offset.load(Ordering::Relaxed), 6);
    }
}
