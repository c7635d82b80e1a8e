//! Blocks into chunks: each is cut after its last whole record, and the rest goes before the next.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use arrow::buffer::Buffer;
use memchr::memchr_iter;

use crate::blocks::Block;
use crate::boundary::Boundaries;
use crate::error::Error;
use crate::index::Index;
use crate::pool::Pool;
use crate::syntax::Syntax;

/// Room before a block for the record that the block before it was cut in. It is part of what a chunk
/// holds on to; a longer record makes its chunk be copied.
pub fn headroom_bytes(block_bytes: usize) -> usize {
    block_bytes / 16
}

/// State of a file after the blocks so far.
#[derive(Debug)]
pub struct Cutter {
    pool: Arc<Pool>,
    syntax: Syntax,
    record_bytes_max: usize,
    boundaries: Boundaries,
    /// Bytes after the last boundary.
    tail: Vec<u8>,
    /// The physical line of the tail's first byte.
    line: u64,
    /// Bytes of the file, the header's too, until a chunk has taken them into account.
    uncounted_bytes: usize,
}

/// Whole records.
pub struct Records {
    pub bytes: Buffer,
    pub first_line: u64,
    pub consumed_bytes: usize,
}

/// A block in its buffer, with headroom before it and room for a newline after it.
#[derive(Debug, Default)]
pub struct Filled {
    pub buffer: Vec<u8>,
    pub headroom_bytes: usize,
    /// How much there is between the two.
    pub text_bytes: usize,
}

impl Cutter {
    pub fn new(pool: Arc<Pool>, syntax: Syntax, record_bytes_max: usize) -> Cutter {
        Cutter {
            pool,
            syntax,
            record_bytes_max,
            boundaries: Boundaries::at_record_start(syntax),
            tail: Vec::new(),
            line: 0,
            uncounted_bytes: 0,
        }
    }

    /// Takes the next block; gives `None` if no record ends in it.
    pub fn cut(&mut self, block: &Block, filled: Filled) -> Result<Option<Records>, Error> {
        if block.is_first_of_file {
            self.begin_file(block);
        }
        self.uncounted_bytes += block.len;
        let (begin, end) = (filled.headroom_bytes, filled.headroom_bytes + filled.text_bytes);
        let bytes = &filled.buffer[begin..end];
        let boundary = self.boundaries.pass(bytes);
        if block.is_last_of_file {
            return Ok(Some(self.last_records(filled, begin..end)));
        }
        match boundary {
            Some(boundary) => {
                let rest = bytes[boundary..].to_vec();
                let records = self.join_tail(filled, begin..begin + boundary);
                self.tail = rest;
                self.line = self.line_of_tail(block);
                Ok(Some(records))
            }
            None => {
                self.tail.extend_from_slice(bytes);
                self.pool.put_back(filled.buffer);
                self.check_record_length(block).map(|()| None)
            }
        }
    }

    fn begin_file(&mut self, block: &Block) {
        self.boundaries = Boundaries::at_record_start(self.syntax);
        self.line = block.layout.body_line;
        self.uncounted_bytes = block.layout.body_at as usize;
    }

    /// The rest of the file, to which a missing final newline is added.
    fn last_records(&mut self, mut filled: Filled, bytes: Range<usize>) -> Records {
        let last_byte = filled.buffer[bytes.clone()].last().or(self.tail.last());
        let ends_line = last_byte == Some(&b'\n') && !self.boundaries.ends_escaped();
        let needs_newline = !ends_line && !self.boundaries.is_inside_quotes();
        filled.buffer[bytes.end] = b'\n';
        self.join_tail(filled, bytes.start..bytes.end + usize::from(needs_newline))
    }

    /// The tail, then a part of the buffer.
    fn join_tail(&mut self, mut filled: Filled, part: Range<usize>) -> Records {
        let tail = mem::take(&mut self.tail);
        let bytes = if tail.len() <= part.start {
            let begin = part.start - tail.len();
            filled.buffer[begin..part.start].copy_from_slice(&tail);
            self.pool.share(filled.buffer, begin..part.end)
        } else {
            let joined = [&tail, &filled.buffer[part]].concat();
            self.pool.put_back(filled.buffer);
            Buffer::from_vec(joined)
        };
        Records {
            consumed_bytes: mem::take(&mut self.uncounted_bytes),
            first_line: self.line,
            bytes,
        }
    }

    fn line_of_tail(&self, block: &Block) -> u64 {
        let newlines_in_tail = memchr_iter(b'\n', &self.tail).count() as u64;
        block.layout.body_line + self.boundaries.newlines() - newlines_in_tail
    }

    fn check_record_length(&self, block: &Block) -> Result<(), Error> {
        if self.tail.len() < self.record_bytes_max {
            return Ok(());
        }
        let mut index = Index::new(&self.tail, self.syntax);
        while index.next_stretch().is_some() {}
        let open_field = index.unfinished().filter(|_| self.boundaries.is_inside_quotes());
        let line_of = |at| self.line + memchr_iter(b'\n', &self.tail[..at]).count() as u64;
        Err(Error::RecordTooLong {
            file: block.layout.path.to_path_buf(),
            line: self.line,
            limit_bytes: self.record_bytes_max,
            quote_line: open_field.map(|unfinished| line_of(unfinished.field_at)),
        })
    }
}
