//! The files of a table as numbered chunks of whole records.
//!
//! This is the only sequential part of reading, and runs under the reader's lock: one pass of the kernel
//! to copy the bytes, one to find where the last record ends.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem;
use std::sync::Arc;

use arrow::buffer::Buffer;
use memchr::memchr_iter;

use crate::boundary::Boundaries;
use crate::chunk::Chunk;
use crate::error::Error;
use crate::index::Index;
use crate::layout::Layout;
use crate::pool::Pool;

#[derive(Debug)]
pub struct Stream {
    limits: Limits,
    files: VecDeque<Arc<Layout>>,
    open: Option<OpenFile>,
    next_number: u64,
    pool: Arc<Pool>,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub chunk_bytes: usize,
    pub record_bytes_max: usize,
}

impl Stream {
    pub fn new(files: impl IntoIterator<Item = Layout>, limits: Limits) -> Stream {
        Stream {
            limits,
            files: files.into_iter().map(Arc::new).collect(),
            open: None,
            next_number: 0,
            pool: Pool::new(limits.chunk_bytes),
        }
    }

    /// The next chunk, or `None` at the end of the last file, and after an error.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        let next = self.advance();
        if next.is_err() {
            self.files.clear();
            self.open = None;
        }
        next
    }

    fn advance(&mut self) -> Result<Option<Chunk>, Error> {
        loop {
            let open = match &mut self.open {
                Some(open) => open,
                closed => match self.files.pop_front() {
                    Some(layout) => closed.insert(OpenFile::open(layout)?),
                    None => return Ok(None),
                },
            };
            let Some(records) = open.next_records(self.limits, &self.pool)? else {
                self.open = None;
                continue;
            };
            let chunk = Chunk {
                number: self.next_number,
                layout: open.layout.clone(),
                bytes: records.bytes,
                first_line: records.first_line,
                consumed_bytes: records.consumed_bytes,
            };
            self.next_number += 1;
            return Ok(Some(chunk));
        }
    }
}

#[derive(Debug)]
struct OpenFile {
    layout: Arc<Layout>,
    file: File,
    boundaries: Boundaries,
    /// What has been read after the last boundary.
    tail: Vec<u8>,
    /// The physical line of the tail's first byte.
    line: u64,
    /// The header, until a chunk has taken it into account.
    uncounted_bytes: usize,
}

struct Records {
    bytes: Buffer,
    first_line: u64,
    consumed_bytes: usize,
}

impl OpenFile {
    fn open(layout: Arc<Layout>) -> Result<OpenFile, Error> {
        let open = || {
            let mut file = File::open(&layout.path)?;
            file.seek(SeekFrom::Start(layout.body_at as u64))?;
            Ok(file)
        };
        Ok(OpenFile {
            file: open().map_err(|error| Error::read(&layout.path, error))?,
            boundaries: Boundaries::at_record_start(),
            tail: Vec::new(),
            line: layout.body_line,
            uncounted_bytes: layout.body_at,
            layout,
        })
    }

    fn next_records(&mut self, limits: Limits, pool: &Arc<Pool>) -> Result<Option<Records>, Error> {
        let mut buffer = pool.take();
        let mut filled = self.tail.len();
        let mut wanted = limits.chunk_bytes.max(filled + 1);
        buffer.resize(wanted, 0);
        buffer[..filled].copy_from_slice(&self.tail);
        self.tail.clear();
        loop {
            let read = read_full(&mut self.file, &mut buffer[filled..])
                .map_err(|error| Error::read(&self.layout.path, error))?;
            let boundary = self.boundaries.pass(&buffer[filled..filled + read]);
            let boundary = boundary.map(|boundary| filled + boundary);
            filled += read;
            if filled < wanted {
                return Ok(self.last_records(buffer, filled, pool));
            }
            if let Some(boundary) = boundary {
                return Ok(Some(self.records_up_to(boundary, buffer, pool)));
            }
            if filled >= limits.record_bytes_max {
                return Err(self.record_too_long(&buffer, limits.record_bytes_max));
            }
            wanted = (2 * filled).min(limits.record_bytes_max);
            buffer.resize(wanted, 0);
        }
    }

    fn records_up_to(&mut self, boundary: usize, buffer: Vec<u8>, pool: &Arc<Pool>) -> Records {
        self.tail.extend_from_slice(&buffer[boundary..]);
        let newlines_in_tail = memchr_iter(b'\n', &self.tail).count() as u64;
        let next_line = self.layout.body_line + self.boundaries.newlines() - newlines_in_tail;
        Records {
            bytes: pool.share(buffer, boundary),
            first_line: mem::replace(&mut self.line, next_line),
            consumed_bytes: boundary + mem::take(&mut self.uncounted_bytes),
        }
    }

    /// The rest of the file. A newline that is missing at its end is put there: the buffer has room for
    /// it, because the file did not fill it.
    fn last_records(
        &mut self,
        mut buffer: Vec<u8>,
        filled: usize,
        pool: &Arc<Pool>,
    ) -> Option<Records> {
        let last = *buffer[..filled].last()?;
        let needs_newline = last != b'\n' && !self.boundaries.is_inside_quotes();
        if needs_newline {
            buffer[filled] = b'\n';
        }
        Some(Records {
            bytes: pool.share(buffer, filled + usize::from(needs_newline)),
            first_line: self.line,
            consumed_bytes: filled + mem::take(&mut self.uncounted_bytes),
        })
    }

    fn record_too_long(&self, record: &[u8], limit_bytes: usize) -> Error {
        let mut index = Index::new(record);
        while index.next_stretch().is_some() {}
        let open_field = index.unfinished().filter(|_| self.boundaries.is_inside_quotes());
        let line_of = |at| self.line + memchr_iter(b'\n', &record[..at]).count() as u64;
        Error::RecordTooLong {
            file: self.layout.path.to_path_buf(),
            line: self.line,
            limit_bytes,
            quote_line: open_field.map(|unfinished| line_of(unfinished.field_at)),
        }
    }
}

/// Reads until `buffer` is full or the file ends, so that chunks do not depend on how reads are cut.
fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
