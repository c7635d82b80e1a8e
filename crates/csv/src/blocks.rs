//! The files of a table as blocks of a fixed size, for many threads to read at once.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::cutter;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::input::Body;
use crate::layout::Layout;
use crate::pool::Pool;

/// A piece of a file that one thread has taken on to read.
#[derive(Debug)]
pub struct Block {
    /// 0, 1, 2 ... over all files: blocks are used in this order.
    pub number: u64,
    pub layout: Arc<Layout>,
    pub len: usize,
    pub is_first_of_file: bool,
    pub is_last_of_file: bool,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// From this offset of a file.
    At(Arc<File>, u64),
    /// What comes in its order has been read in its order.
    Read(cutter::Filled),
}

impl Block {
    /// Its text, in a buffer of the pool.
    pub fn read(&mut self, pool: &Pool, headroom_bytes: usize) -> Result<cutter::Filled, Error> {
        let (file, offset) = match &mut self.content {
            Content::At(file, offset) => (file, *offset),
            Content::Read(filled) => return Ok(std::mem::take(filled)),
        };
        let piece = Piece { file, layout: &self.layout, offset, len: self.len };
        let mut buffer = pool.take();
        if self.layout.encoding == Encoding::Utf8 {
            piece.read(&mut buffer[headroom_bytes..][..self.len])?;
            return Ok(cutter::Filled { buffer, headroom_bytes, text_bytes: self.len });
        }
        let buffer_bytes = buffer.len();
        buffer.truncate(headroom_bytes);
        piece.decode(&mut buffer)?;
        let text_bytes = buffer.len() - headroom_bytes;
        assert!(headroom_bytes + text_bytes < buffer_bytes, "no encoding grows more than it says");
        buffer.resize(buffer_bytes, 0);
        Ok(cutter::Filled { buffer, headroom_bytes, text_bytes })
    }
}

/// Where a block is in a file.
struct Piece<'a> {
    file: &'a File,
    layout: &'a Layout,
    offset: u64,
    len: usize,
}

impl Piece<'_> {
    /// Fills `buffer`, which is as long as the block.
    fn read(&self, buffer: &mut [u8]) -> Result<(), Error> {
        self.read_at(buffer, self.offset)
    }

    /// Appends its text, where the file is not in UTF-8.
    fn decode(&self, text: &mut Vec<u8>) -> Result<(), Error> {
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
    headroom_bytes: usize,
    pool: Arc<Pool>,
    files: VecDeque<Arc<Layout>>,
    open: Option<Open>,
    next_number: u64,
}

#[derive(Debug)]
enum Open {
    File { layout: Arc<Layout>, file: Arc<File>, next_offset: u64 },
    Stream { layout: Arc<Layout>, body: Body, is_begun: bool },
}

impl Blocks {
    pub fn of_files(
        files: impl IntoIterator<Item = Layout>,
        block_bytes: usize,
        pool: Arc<Pool>,
    ) -> Blocks {
        let files = files.into_iter().map(Arc::new).collect();
        let headroom_bytes = cutter::headroom_bytes(block_bytes);
        Blocks { block_bytes, headroom_bytes, pool, files, open: None, next_number: 0 }
    }

    /// Of one file whose bytes come in their order.
    pub fn of_stream(layout: Layout, body: Body, block_bytes: usize, pool: Arc<Pool>) -> Blocks {
        let open = Open::Stream { layout: Arc::new(layout), body, is_begun: false };
        Blocks { open: Some(open), ..Blocks::of_files([], block_bytes, pool) }
    }

    /// Takes the next block. A file has the size that it had when its header was read: what is appended
    /// to it later is not of this read.
    pub fn take(&mut self) -> Result<Option<Block>, Error> {
        self.open_next_file()?;
        let block = match &mut self.open {
            None => return Ok(None),
            Some(Open::File { layout, file, next_offset }) => {
                let offset = *next_offset;
                let left_bytes = layout.file_bytes - offset;
                // Whole units, whatever their size.
                let unit = layout.encoding.unit_bytes();
                let block_bytes = (self.block_bytes / unit * unit).max(unit);
                let len = left_bytes.min(block_bytes as u64) as usize;
                *next_offset += len as u64;
                Block {
                    number: self.next_number,
                    len,
                    is_first_of_file: offset == layout.body_at,
                    is_last_of_file: len as u64 == left_bytes,
                    content: Content::At(Arc::clone(file), offset),
                    layout: Arc::clone(layout),
                }
            }
            Some(Open::Stream { layout, body, is_begun }) => {
                let mut buffer = self.pool.take();
                let room = &mut buffer[self.headroom_bytes..][..self.block_bytes];
                let read = body.fill(room).map_err(|error| Error::read(&layout.path, error))?;
                if read.len == 0 {
                    self.open = None;
                    return Ok(None);
                }
                let headroom_bytes = self.headroom_bytes;
                Block {
                    number: self.next_number,
                    len: read.len,
                    is_first_of_file: !std::mem::replace(is_begun, true),
                    is_last_of_file: read.is_last,
                    content: Content::Read(cutter::Filled {
                        buffer,
                        headroom_bytes,
                        text_bytes: read.len,
                    }),
                    layout: Arc::clone(layout),
                }
            }
        };
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
                self.open = Some(Open::File { layout, file: Arc::new(file), next_offset });
            }
        }
        Ok(())
    }
}
