//! Rows to IPC.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions,
    StreamWriter,
};
use bytes::Bytes;

use super::decode::check_memory;
use super::{CONTINUATION, Error, IpcMessage};
use crate::size::rows_bytes;

const PREFIX_BYTES: usize = 8;
/// As Arrow writes them.
const ALIGNMENT_BYTES: usize = 64;

/// Batches of one schema as a stream; nothing at all where there is no batch.
pub fn encode_batches(batches: &[RecordBatch]) -> Result<Bytes, Error> {
    let Some(first) = batches.first() else { return Ok(Bytes::new()) };
    // Nobody would decode it.
    check_memory(batches.iter().map(|batch| rows_bytes(batch) as u64).sum())?;
    let mut writer = StreamWriter::try_new_with_options(vec![], &first.schema(), compressed()?)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?.into())
}

/// A batch as one message, after those of its dictionaries.
pub fn encode_batch(batch: &RecordBatch) -> Result<(Vec<IpcMessage>, IpcMessage), Error> {
    let options = compressed()?;
    let generator = IpcDataGenerator::default();
    let mut tracker = DictionaryTracker::new(false);
    // Gives the dictionaries of the schema their numbers.
    generator.schema_to_bytes_with_dictionary_tracker(&batch.schema(), &mut tracker, &options);
    let (dictionaries, rows) =
        generator.encode(batch, &mut tracker, &options, &mut IpcWriteContext::default())?;
    Ok((dictionaries.into_iter().map(IpcMessage::from).collect(), rows.into()))
}

/// The message that comes before all others of a stream.
pub fn encode_schema(schema: &Schema) -> IpcMessage {
    let mut tracker = DictionaryTracker::new(false);
    let options = IpcWriteOptions::default();
    let generator = IpcDataGenerator::default();
    generator.schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options).into()
}

/// A stream of these messages, in pieces.
pub fn stream_of(messages: impl IntoIterator<Item = IpcMessage>) -> Vec<Bytes> {
    let mut pieces: Vec<_> = messages.into_iter().flat_map(encapsulated).collect();
    pieces.push(prefix(0));
    pieces
}

/// A message as it is in a stream, in pieces.
pub fn encapsulated(IpcMessage { metadata, body }: IpcMessage) -> [Bytes; 4] {
    let padded_bytes = (PREFIX_BYTES + metadata.len()).next_multiple_of(ALIGNMENT_BYTES);
    let length = padded_bytes - PREFIX_BYTES;
    let padding = vec![0; length - metadata.len()].into();
    let length = u32::try_from(length).expect("metadata is far below 4 GiB");
    [prefix(length), metadata, padding, body]
}

fn prefix(length: u32) -> Bytes {
    [CONTINUATION, length.to_le_bytes()].concat().into()
}

fn compressed() -> Result<IpcWriteOptions, ArrowError> {
    IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))
}

impl From<EncodedData> for IpcMessage {
    fn from(encoded: EncodedData) -> Self {
        Self { metadata: encoded.ipc_message.into(), body: encoded.arrow_data.into() }
    }
}
