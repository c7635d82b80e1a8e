//! The messages of a session as Flight carries them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::read_dictionary;
use arrow::ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow::ipc::{CompressionType, MessageHeader, root_as_message};
use arrow_flight::utils::flight_data_to_arrow_batch;
use arrow_flight::{FlightData, FlightDescriptor, SchemaAsIpc};
use caudal_protocol::calls::StreamCommand;
use caudal_protocol::encoding::{self, Encodings};
use serde::Serialize;

/// The first message of a stream: what it is for.
pub fn command(command: &StreamCommand) -> FlightData {
    FlightData::new().with_descriptor(FlightDescriptor::new_cmd(json(command)))
}

/// The first message of a table's stream.
pub fn table_command(stream: &StreamCommand, schema: &Schema) -> FlightData {
    let data: FlightData = SchemaAsIpc::new(schema, &IpcWriteOptions::default()).into();
    data.with_descriptor(FlightDescriptor::new_cmd(json(stream)))
}

/// A message without rows.
pub fn metadata(message: &impl Serialize) -> FlightData {
    FlightData::new().with_app_metadata(json(message))
}

fn json(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages are plain data")
}

/// A batch of the schema that was announced for it, encoded and compressed.
pub fn rows(batch: RecordBatch, schema: &SchemaRef) -> Result<(FlightData, Encodings), ArrowError> {
    let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &count)?;
    let (batch, encodings) = encoding::encode(batch);
    let columns = batch.columns().iter().map(compact).collect();
    let batch = RecordBatch::try_new_with_options(batch.schema(), columns, &count)?;
    let options =
        IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut dictionaries = DictionaryTracker::new(false);
    let mut context = IpcWriteContext::default();
    let (_, encoded) =
        IpcDataGenerator::default().encode(&batch, &mut dictionaries, &options, &mut context)?;
    Ok((encoded.into(), encodings))
}

/// Texts are views into the file's own bytes, which all columns share: each would send all of them.
fn compact(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Utf8View => Arc::new(column.as_string_view().gc()),
        _ => Arc::clone(column),
    }
}

/// The rows of an answer's stream, which begins with their schema.
#[derive(Default)]
pub struct Decoder {
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Decoder {
    /// The rows of a message, if it has some.
    pub fn decode(&mut self, data: &FlightData) -> Result<Option<RecordBatch>, ArrowError> {
        if data.data_header.is_empty() {
            return Ok(None);
        }
        let malformed = |what: &str| ArrowError::IpcError(what.to_string());
        let message =
            root_as_message(&data.data_header).map_err(|error| malformed(&error.to_string()))?;
        if message.header_type() == MessageHeader::Schema {
            self.schema = Some(Arc::new(Schema::try_from(data)?));
            return Ok(None);
        }
        let schema = self.schema.as_ref().ok_or_else(|| malformed("rows before their schema"))?;
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            let body = Buffer::from(data.data_body.clone());
            let version = message.version();
            read_dictionary(&body, dictionary, schema, &mut self.dictionaries, &version)?;
            return Ok(None);
        }
        flight_data_to_arrow_batch(data, Arc::clone(schema), &self.dictionaries).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringViewArray};
    use arrow::datatypes::Field;

    use super::*;

    fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
        let field =
            |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), true);
        Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
    }

    fn there_and_back(batch: RecordBatch) -> (RecordBatch, usize) {
        let schema = batch.schema();
        let command = StreamCommand::Attach { session: caudal_core::SessionId("s".into()) };
        let (sent, encodings) = rows(batch, &schema).unwrap();
        let schema = encodings.schema(&schema).unwrap();
        let mut decoder = Decoder::default();
        assert!(decoder.decode(&table_command(&command, &schema)).unwrap().is_none());
        assert!(decoder.decode(&metadata(&1)).unwrap().is_none());
        let came = decoder.decode(&sent).unwrap().unwrap();
        (encoding::decode(came, &encodings).unwrap(), sent.data_body.len())
    }

    #[test]
    fn rows_without_columns_keep_their_number() {
        let options = RecordBatchOptions::new().with_row_count(Some(7));
        let batch = RecordBatch::try_new_with_options(schema(&[]), vec![], &options).unwrap();
        assert_eq!(there_and_back(batch).0.num_rows(), 7);
    }

    #[test]
    fn of_a_files_text_only_what_is_left_is_sent() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut noise = || -> String { (0..1000).map(|_| random.alphanumeric()).collect() };
        let texts = StringViewArray::from_iter_values((0..1000).map(|_| noise()));
        let few: ArrayRef = Arc::new(texts.slice(10, 2));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let fields = [("a", DataType::Utf8View), ("b", DataType::Int64)];
        let batch = RecordBatch::try_new(schema(&fields), vec![few, numbers]).unwrap();
        let (came, bytes) = there_and_back(batch.clone());
        assert_eq!(came, batch);
        assert!(bytes < 10_000, "{bytes}");
    }

    #[test]
    fn rows_before_their_schema_are_refused() {
        let batch = RecordBatch::new_empty(schema(&[("a", DataType::Int64)]));
        let (sent, _) = rows(batch.clone(), &batch.schema()).unwrap();
        assert!(Decoder::default().decode(&sent).is_err());
    }
}
