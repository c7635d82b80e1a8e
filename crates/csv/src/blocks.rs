//! The files of a table as blocks of a fixed size, for many threads to read at once.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;
use crate::layout::Layout;

/// A piece of a file that one thread has taken on to read.
#[derive(Debug)]
pub struct Block {
    /// 0, 1, 2 ... over all files: blocks are used in this order.
    pub number: u64,
    pub layout: Arc<Layout>,
    pub len: usize,
    pub is_last_of_file: bool,
    file: Arc<File>,
    offset: u64,
}

impl Block {
    pub fn is_first_of_file(&self) -> bool {
        self.offset == self.layout.body_at
    }

    /// Fills `buffer`, which is as long as the block.
    pub fn read(&self, buffer: &mut [u8]) -> Result<(), Error> {
        self.read_at(buffer, self.offset)
    }

    /// Appends its text, where the file is not in UTF-8.
    pub fn decode(&self, text: &mut Vec<u8>) -> Result<(), Error> {
        let unit = self.layout.encoding.unit_bytes() as u64;
        let begin = self.offset.saturating_sub(unit).max(self.layout.body_at);
        let end = (self.offset + self.len as u64 + unit).min(self.layout.file_bytes);
        let mut bytes = vec![0; (end - begin) as usize];
        self.read_at(&mut bytes, begin)?;
        let (before, rest) = bytes.split_at((self.offset - begin) as usize);
        let (piece, after) = rest.split_at(self.len);
        self.layout.encoding.decode(before, piece, after, text);
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let read = self.file.read_exact_at(buffer, offset);
        read.map_err(|error| Error::read(&self.layout.path, error))
    }
}

/// The blocks that nobody has taken yet.
#[derive(Debug)]
pub struct Blocks {
    block_bytes: usize,
    files: VecDeque<Arc<Layout>>,
    open: Option<OpenFile>,
    next_number: u64,
}

#[derive(Debug)]
struct OpenFile {
    layout: Arc<Layout>,
    file: Arc<File>,
    next_offset: u64,
}

impl Blocks {
    pub fn new(files: impl IntoIterator<Item = Layout>, block_bytes: usize) -> Blocks {
        let files = files.into_iter().map(Arc::new).collect();
        Blocks { block_bytes, files, open: None, next_number: 0 }
    }

    /// Takes the next block. A file has the size that it had when its header was read: what is appended
    /// to it later is not of this read.
    pub fn take(&mut self) -> Result<Option<Block>, Error> {
        self.open_next_file()?;
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let left_bytes = open.layout.file_bytes - open.next_offset;
        // Whole units, whatever their size.
        let unit = open.layout.encoding.unit_bytes();
        let block_bytes = (self.block_bytes / unit * unit).max(unit);
        let len = left_bytes.min(block_bytes as u64) as usize;
        let block = Block {
            number: self.next_number,
            layout: open.layout.clone(),
            len,
            is_last_of_file: len as u64 == left_bytes,
            file: open.file.clone(),
            offset: open.next_offset,
        };
        open.next_offset += len as u64;
        if block.is_last_of_file {
            self.open = None;
        }
        self.next_number += 1;
        Ok(Some(block))
    }

    /// Takes no more blocks.
    pub fn close(&mut self) {
        self.files.clear();
        self.open = None;
    }

    /// Unless one is open, opens the next file that has more than a header.
    fn open_next_file(&mut self) -> Result<(), Error> {
        while self.open.is_none() {
            let Some(layout) = self.files.pop_front() else {
                break;
            };
            if layout.body_at < layout.file_bytes {
                let file = File::open(&layout.path);
                let file = file.map_err(|error| Error::read(&layout.path, error))?;
                let next_offset = layout.body_at;
                self.open = Some(OpenFile { layout, file: Arc::new(file), next_offset });
            }
        }
        Ok(())
    }
}
