//! The footer of an Arrow file: its schema, and where its dictionaries and batches are.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::{self, root_as_footer};
use bytes::Bytes;

use super::NAME;
use super::message::{Message, damaged};
use crate::at::FileAt;
use crate::error::Error;
use crate::guard::guarded;
use crate::origin::Origin;

/// What a file begins and ends with.
pub const MAGIC: &[u8] = b"ARROW1";

/// What comes last: the length of the footer, and the magic.
const END_BYTES: usize = 4 + MAGIC.len();

/// Places of messages, the dictionaries first.
#[derive(Debug)]
pub struct Footer {
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    offset: u64,
    bytes: usize,
}

impl Footer {
    pub fn read(origin: &Origin) -> Result<(SchemaRef, Footer), Error> {
        let (path, file) = (origin.path(), origin.at()?);
        let no_footer = || damaged(path, "it has no footer");
        let end_at = file.bytes().checked_sub(END_BYTES as u64).ok_or_else(no_footer)?;
        let end = read(&file, end_at, END_BYTES, path)?;
        let length = end.first_chunk().map(|length| i32::from_le_bytes(*length));
        let length = length.and_then(|length| u64::try_from(length).ok());
        let footer_at = length.and_then(|length| end_at.checked_sub(length));
        let (true, Some(footer_at)) = (end.ends_with(MAGIC), footer_at) else {
            return Err(no_footer());
        };
        let footer = read(&file, footer_at, (end_at - footer_at) as usize, path)?;
        guarded(path, NAME, || of_bytes(&footer, footer_at))
    }

    /// Where the messages are, which are read one after the other.
    pub fn range(&self) -> Range<u64> {
        let first = self.blocks.iter().map(|block| block.offset).min();
        let end = self.blocks.iter().map(|block| block.offset + block.bytes as u64).max();
        first.unwrap_or(0)..end.unwrap_or(0)
    }

    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The message at a place, and the bytes that it takes.
    pub fn message(
        &self,
        at: usize,
        file: &FileAt,
        path: &Path,
    ) -> Result<(Message, usize), Error> {
        let Block { offset, bytes } = self.blocks[at];
        let block = read(file, offset, bytes, path)?;
        let message = Message::read(&mut &block[..], path)?;
        let message = message.ok_or_else(|| damaged(path, "a block without a message"))?;
        Ok((message, bytes))
    }
}

fn of_bytes(footer: &[u8], footer_at: u64) -> Result<(SchemaRef, Footer), String> {
    let footer = root_as_footer(footer).map_err(|error| error.to_string())?;
    let schema = footer.schema().ok_or("its footer has no schema")?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let batches = footer.recordBatches().into_iter().flatten();
    let blocks = dictionaries.chain(batches).map(|block| place(block, footer_at));
    Ok((Arc::new(fb_to_schema(schema)), Footer { blocks: blocks.collect::<Result<_, _>>()? }))
}

fn place(block: &ipc::Block, footer_at: u64) -> Result<Block, String> {
    let within = || {
        let offset = u64::try_from(block.offset()).ok()?;
        let metadata = u64::try_from(block.metaDataLength()).ok()?;
        let bytes = metadata.checked_add(u64::try_from(block.bodyLength()).ok()?)?;
        let is_within = offset.checked_add(bytes)? <= footer_at;
        is_within.then_some(Block { offset, bytes: usize::try_from(bytes).ok()? })
    };
    within().ok_or_else(|| "a block beyond the file".to_string())
}

fn read(file: &FileAt, offset: u64, bytes: usize, path: &Path) -> Result<Bytes, Error> {
    file.exactly(offset, bytes).map_err(|error| Error::read(path, error))
}
