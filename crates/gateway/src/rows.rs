//! Rows of a result as Flight carries them, compressed.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow_flight::{FlightData, SchemaAsIpc};
use bytes::Bytes;

use crate::Error;

/// The schema message, which comes before all rows of a result.
pub fn schema_message(schema: &Schema) -> FlightData {
    SchemaAsIpc::new(schema, &IpcWriteOptions::default()).into()
}

/// A message of a result: its batch, if it has one, carries the metadata. Dictionaries precede it, anew
/// each time, because a client may miss any message.
pub fn messages(metadata: Bytes, batch: Option<RecordBatch>) -> Result<Vec<FlightData>, Error> {
    let Some(batch) = batch else {
        return Ok(vec![FlightData::new().with_app_metadata(metadata)]);
    };
    let (dictionaries, rows) = encode(&batch)
        .map_err(|error| Error::BadObject { name: "a result".into(), reason: error.to_string() })?;
    let mut messages = dictionaries;
    messages.push(rows.with_app_metadata(metadata));
    Ok(messages)
}

fn encode(batch: &RecordBatch) -> Result<(Vec<FlightData>, FlightData), ArrowError> {
    let options =
        IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut tracker = DictionaryTracker::new(false);
    let mut context = IpcWriteContext::default();
    let generator = IpcDataGenerator::default();
    // Gives the dictionaries of the schema their numbers.
    generator.schema_to_bytes_with_dictionary_tracker(&batch.schema(), &mut tracker, &options);
    let (dictionaries, rows) = generator.encode(batch, &mut tracker, &options, &mut context)?;
    Ok((dictionaries.into_iter().map(FlightData::from).collect(), rows.into()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, DictionaryArray, Int64Array};
    use arrow::datatypes::Int32Type;
    use arrow_flight::decode::FlightRecordBatchStream;
    use futures::{TryStreamExt, stream};

    use super::*;

    #[tokio::test]
    async fn any_flight_client_reads_them() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
        let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        let columns: [(&str, ArrayRef); 2] = [("n", numbers), ("w", Arc::new(words))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut sent = vec![schema_message(&batch.schema())];
        for _ in 0..2 {
            sent.extend(messages(Bytes::from_static(b"{}"), Some(batch.clone())).unwrap());
        }
        let sent = stream::iter(sent.into_iter().map(Ok));
        let read = FlightRecordBatchStream::new_from_flight_data(sent);
        let read: Vec<RecordBatch> = read.try_collect().await.unwrap();
        assert_eq!(read, [batch.clone(), batch]);
    }
}
