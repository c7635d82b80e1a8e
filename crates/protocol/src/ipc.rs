//! Rows as Arrow IPC, everywhere: in messages and records as streams, in Flight as single messages. They are compressed with
//! LZ4, and nothing that comes in is trusted: how much memory it will take is known before it is allocated, and what Arrow
//! panics of is an error.

mod decode;
mod encode;
mod lz4;
mod shape;

use arrow::error::ArrowError;
use bytes::Bytes;
use thiserror::Error;

pub use self::decode::{Decoder, check_memory, decode_batches, guarded, one_batch};
pub use self::encode::{encapsulated, encode_batch, encode_batches, encode_schema, stream_of};
pub use self::shape::{Shape, shape};

/// Marker that tells a message of an IPC stream from one of older versions of the format. It ends the stream if a length
/// of zero follows.
const CONTINUATION: [u8; 4] = [0xff; 4];

#[derive(Debug, Error)]
pub enum Error {
    #[error("it ends before it says it should")]
    Truncated,
    #[error("its rows are not Arrow: {0}")]
    Arrow(#[from] ArrowError),
    #[error("its rows would take {bytes} bytes of memory; {bytes_max} are the most")]
    TooLarge { bytes: u64, bytes_max: u64 },
}

/// One message of an IPC stream: a schema, a dictionary or a batch. Flight carries them one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpcMessage {
    /// A flatbuffer.
    pub metadata: Bytes,
    pub body: Bytes,
}

/// Takes a stream apart, without decoding anything.
pub fn messages(stream: &Bytes) -> Result<Vec<IpcMessage>, Error> {
    let mut messages = vec![];
    let mut rest = stream.clone();
    while !rest.is_empty() {
        let mut length = take(&mut rest, 4)?;
        if *length == CONTINUATION {
            length = take(&mut rest, 4)?;
        }
        let length = u32::from_le_bytes(length[..].try_into().expect("four bytes"));
        if length == 0 {
            break;
        }
        let metadata = take(&mut rest, u64::from(length))?;
        let body_bytes = header_of(&metadata)?.bodyLength();
        let body_bytes = u64::try_from(body_bytes).map_err(|_| malformed("a negative length"))?;
        messages.push(IpcMessage { metadata, body: take(&mut rest, body_bytes)? });
    }
    Ok(messages)
}

fn header_of(metadata: &[u8]) -> Result<arrow::ipc::Message<'_>, Error> {
    arrow::ipc::root_as_message(metadata).map_err(|error| malformed(&error.to_string()))
}

fn malformed(what: &str) -> Error {
    Error::Arrow(ArrowError::IpcError(what.to_string()))
}

/// Splits the next `bytes` off.
pub fn take(rest: &mut Bytes, bytes: u64) -> Result<Bytes, Error> {
    let bytes = usize::try_from(bytes).map_err(|_| Error::Truncated)?;
    if bytes > rest.len() {
        return Err(Error::Truncated);
    }
    Ok(rest.split_to(bytes))
}

#[cfg(test)]
mod tests;
