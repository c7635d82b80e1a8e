//! Messages of Arrow IPC: a schema, a dictionary or a batch, with the bytes that it is about.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::{self, root_as_message};
use caudal_core::limits;

use super::NAME;
use crate::error::Error;
use crate::guard::guarded;

/// Marker that tells a message from one of older versions of the format.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of a message's description: of thousands of columns and long names.
const METADATA_BYTES_MAX: usize = 256 << 20;

/// A message, not decoded.
#[derive(Debug)]
pub struct Message {
    metadata: Vec<u8>,
    pub body: Buffer,
}

pub fn damaged(path: &Path, why: impl Into<String>) -> Error {
    Error::Damaged { path: path.to_path_buf(), format: NAME, why: why.into() }
}

impl Message {
    /// The next message of a stream; none where it says that it ends. One that only stops was cut off.
    pub fn read(stream: &mut dyn Read, path: &Path) -> Result<Option<Message>, Error> {
        let mut length = [0; 4];
        exact(stream, &mut length, path)?;
        if length == CONTINUATION {
            exact(stream, &mut length, path)?;
        }
        let length = usize::try_from(i32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length == 0 {
            return Ok(None);
        }
        if length > METADATA_BYTES_MAX {
            return Err(damaged(path, "a message that is described by too many bytes"));
        }
        let metadata = bytes(stream, length, path)?;
        let body_bytes = body_bytes(&metadata, path)?;
        let body = Buffer::from(bytes(stream, body_bytes, path)?);
        Ok(Some(Message { metadata, body }))
    }

    /// What kind it is, and of what.
    pub fn header(&self, path: &Path) -> Result<ipc::Message<'_>, Error> {
        root_as_message(&self.metadata).map_err(|error| damaged(path, error.to_string()))
    }

    pub fn schema(&self, path: &Path) -> Result<SchemaRef, Error> {
        let header = self.header(path)?;
        let Some(schema) = header.header_as_schema() else {
            return Err(damaged(path, "it does not begin with a schema"));
        };
        guarded(path, NAME, || Ok::<_, Error>(Arc::new(fb_to_schema(schema))))
    }

    /// Bytes that a batch, or a dictionary, takes once it is decompressed. A decoder makes room for what the file says: it
    /// has to be likely.
    pub fn decoded_bytes(&self, batch: &ipc::RecordBatch<'_>, path: &Path) -> Result<u64, Error> {
        let is_compressed = batch.compression().is_some();
        let mut decoded_bytes = 0u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (offset, length) = (buffer.offset() as usize, buffer.length() as usize);
            let end = offset.checked_add(length).filter(|end| *end <= self.body.len());
            let Some(end) = end else { return Err(damaged(path, "a buffer beyond its message")) };
            let said = self.body.get(offset..end).and_then(|bytes| bytes.first_chunk::<8>());
            let said = match said.map(|bytes| i64::from_le_bytes(*bytes)) {
                Some(said) if is_compressed && said != -1 => u64::try_from(said),
                _ => Ok(length as u64),
            };
            let said = said.map_err(|_| damaged(path, "a buffer of a negative length"))?;
            let counted = (length as u64).max(limits::UNPACK_BYTES_FREE);
            if said > counted.saturating_mul(limits::UNPACKED_BYTES_PER_BYTE_MAX) {
                return Err(damaged(path, format!("{length} bytes that are said to make {said}")));
            }
            decoded_bytes = decoded_bytes.saturating_add(said);
        }
        match decoded_bytes <= limits::ARROW_BATCH_BYTES_MAX {
            true => Ok(decoded_bytes),
            false => Err(damaged(path, format!("a batch of {decoded_bytes} bytes"))),
        }
    }
}

fn body_bytes(metadata: &[u8], path: &Path) -> Result<usize, Error> {
    let message = root_as_message(metadata).map_err(|error| damaged(path, error.to_string()))?;
    let bytes = usize::try_from(message.bodyLength());
    bytes.map_err(|_| damaged(path, "a message of a negative length"))
}

fn exact(stream: &mut dyn Read, into: &mut [u8], path: &Path) -> Result<(), Error> {
    stream.read_exact(into).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => damaged(path, "it ends without saying so"),
        _ => Error::read(path, error),
    })
}

/// Room is made for what comes, not for what is said to come.
fn bytes(stream: &mut dyn Read, wanted: usize, path: &Path) -> Result<Vec<u8>, Error> {
    const AT_ONCE: usize = 64 << 20;
    let mut bytes = Vec::with_capacity(wanted.min(AT_ONCE));
    let read = stream.take(wanted as u64).read_to_end(&mut bytes);
    match read.map_err(|error| Error::read(path, error))? == wanted {
        true => Ok(bytes),
        false => Err(damaged(path, "it ends within a message")),
    }
}
