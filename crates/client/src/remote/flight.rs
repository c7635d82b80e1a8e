//! The messages of a session as Flight carries them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow_flight::{FlightData, FlightDescriptor};
use caudal_protocol::calls::StreamCommand;
use caudal_protocol::encoding::{self, Encodings};
use caudal_protocol::ipc::{self, IpcMessage, encode_batch, encode_schema};
use serde::Serialize;

/// The first message of a stream: what it is for.
pub fn command(command: &StreamCommand) -> FlightData {
    FlightData::new().with_descriptor(FlightDescriptor::new_cmd(json(command)))
}

/// The first message of a table's stream.
pub fn table_command(stream: &StreamCommand, schema: &Schema) -> FlightData {
    flight(encode_schema(schema)).with_descriptor(FlightDescriptor::new_cmd(json(stream)))
}

/// A message without rows.
pub fn metadata(message: &impl Serialize) -> FlightData {
    FlightData::new().with_app_metadata(json(message))
}

fn json(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages are plain data")
}

/// A batch of the schema that was announced for it, encoded and compressed.
pub fn rows(batch: RecordBatch, schema: &SchemaRef) -> Result<(FlightData, Encodings), ipc::Error> {
    let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &count)?;
    let (batch, encodings) = encoding::encode(batch);
    let columns = batch.columns().iter().map(compact).collect();
    let batch = RecordBatch::try_new_with_options(batch.schema(), columns, &count)?;
    // Columns of CSV have no dictionaries.
    let (_, rows) = encode_batch(&batch)?;
    Ok((flight(rows), encodings))
}

fn flight(IpcMessage { metadata, body }: IpcMessage) -> FlightData {
    FlightData { data_header: metadata, data_body: body, ..FlightData::new() }
}

/// Texts are views into the file's own bytes, which all columns share: each would send all of them.
fn compact(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Utf8View => Arc::new(column.as_string_view().gc()),
        _ => Arc::clone(column),
    }
}

/// Flight data as a message of an IPC stream.
pub fn ipc_message(data: &FlightData) -> IpcMessage {
    IpcMessage { metadata: data.data_header.clone(), body: data.data_body.clone() }
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
        let command =
            StreamCommand::Attach { session: caudal_core::SessionId("s".into()), resends: false };
        let (sent, encodings) = rows(batch, &schema).unwrap();
        let schema = encodings.schema(&schema).unwrap();
        let mut decoder = ipc::Decoder::default();
        assert!(decoder.decode(&ipc_message(&table_command(&command, &schema))).unwrap().is_none());
        assert!(decoder.decode(&ipc_message(&metadata(&1))).unwrap().is_none());
        let came = decoder.decode(&ipc_message(&sent)).unwrap().unwrap();
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
}
