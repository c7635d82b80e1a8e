//! The footer of an Arrow file: its schema, and where its dictionaries and batches are.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::{self, root_as_footer};

use super::NAME;
use super::message::{Message, damaged};
use crate::error::Error;
use crate::guard::guarded;
use crate::origin::Origin;

/// What a file begins and ends with.
pub const MAGIC: &[u8] = b"ARROW1";

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
        let (path, file) = (origin.path(), origin.file()?);
        let file_bytes = origin.total_bytes()?.unwrap_or(0);
        let mut end = [0; 10];
        let end_at = file_bytes.checked_sub(end.len() as u64);
        let Some(end_at) = end_at else { return Err(damaged(path, "it has no footer")) };
        read(&file, &mut end, end_at, path)?;
        let [length @ .., _, _, _, _, _, _] = end;
        let length = u64::try_from(i32::from_le_bytes(length)).ok();
        let footer_at = length.and_then(|length| end_at.checked_sub(length));
        let (true, Some(footer_at)) = (end.ends_with(MAGIC), footer_at) else {
            return Err(damaged(path, "it has no footer"));
        };
        let mut footer = vec![0; (end_at - footer_at) as usize];
        read(&file, &mut footer, footer_at, path)?;
        guarded(path, NAME, || of_bytes(&footer, footer_at))
    }

    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The message at a place, and the bytes that it takes.
    pub fn message(&self, at: usize, file: &File, path: &Path) -> Result<(Message, usize), Error> {
        let Block { offset, bytes } = self.blocks[at];
        let mut block = vec![0; bytes];
        read(file, &mut block, offset, path)?;
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

fn read(file: &File, into: &mut [u8], offset: u64, path: &Path) -> Result<(), Error> {
    file.read_exact_at(into, offset).map_err(|error| Error::read(path, error))
}
