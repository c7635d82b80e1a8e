//! A piece of a file: whole records, not parsed yet.

use std::path::Path;
use std::sync::Arc;

use arrow::buffer::Buffer;

use crate::layout::Layout;

/// Whole records of one file. Only the last chunk of a file may end within a record, whose quote is then
/// never closed.
#[derive(Debug)]
pub struct Chunk {
    pub(crate) number: u64,
    pub(crate) layout: Arc<Layout>,
    pub(crate) bytes: Buffer,
    /// The physical line of the first byte, counted from 1.
    pub(crate) first_line: u64,
    /// Bytes of the file that were read for it: the header counts for a file's first chunk.
    pub(crate) consumed_bytes: usize,
}

impl Chunk {
    /// 0, 1, 2 ... over all files of a table, the same whenever the same files are read with the same
    /// options.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The file that it is of.
    pub fn path(&self) -> &Arc<Path> {
        &self.layout.path
    }

    /// The same with another number, where it is one of several readers' chunks.
    pub fn numbered(self, number: u64) -> Chunk {
        Chunk { number, ..self }
    }
}
