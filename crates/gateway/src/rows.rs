//! Rows of a result as Flight carries them: those that came from a worker as they came, packed.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::Schema;
use arrow_flight::FlightData;
use bytes::Bytes;
use caudal_protocol::Message;
use caudal_protocol::ipc::{self, IpcMessage, encode_batch, encode_schema};

/// The messages of a batch: its dictionaries, anew each time because a client may miss any message, then its rows.
/// None where there are no rows.
pub type Rows = Vec<IpcMessage>;

/// The schema message, which comes before all rows of a result.
pub fn schema_message(schema: &Schema) -> FlightData {
    flight(encode_schema(schema))
}

/// A message of a result: the last of its rows, if it has some, carries the metadata.
pub fn messages(metadata: Bytes, rows: Rows) -> Vec<FlightData> {
    let mut messages: Vec<_> = rows.into_iter().map(flight).collect();
    match messages.pop() {
        Some(last) => messages.push(last.with_app_metadata(metadata)),
        None => messages.push(FlightData::new().with_app_metadata(metadata)),
    }
    messages
}

/// The rows of a message that never was bytes.
pub fn of_message(message: &Message) -> Result<Rows, ipc::Error> {
    of_batches(&message.batches().cloned().collect::<Vec<_>>())
}

/// The rows of a message's streams. One batch is passed on as it is; several, which older workers send, are made one:
/// for a client a message has one.
pub fn of_streams(streams: &[Bytes]) -> Result<Rows, ipc::Error> {
    let mut batches = 0;
    for stream in streams {
        batches += ipc::shape(stream)?.batches;
    }
    if batches > 1 {
        let decoded = streams.iter().map(|stream| ipc::decode_batches(stream.clone()));
        return of_batches(&decoded.collect::<Result<Vec<_>, _>>()?.concat());
    }
    let mut rows = vec![];
    for stream in streams {
        // The first is the schema, which the client has.
        rows.extend(ipc::messages(stream)?.into_iter().skip(1));
    }
    Ok(rows)
}

fn of_batches(batches: &[RecordBatch]) -> Result<Rows, ipc::Error> {
    let Some(first) = batches.first() else { return Ok(vec![]) };
    let joined = concat_batches(&first.schema(), batches)?;
    let (mut messages, rows) = encode_batch(&joined)?;
    messages.push(rows);
    Ok(messages)
}

fn flight(IpcMessage { metadata, body }: IpcMessage) -> FlightData {
    FlightData { data_header: metadata, data_body: body, ..FlightData::new() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, DictionaryArray, Int64Array};
    use arrow::datatypes::Int32Type;
    use arrow::ipc::writer::StreamWriter;
    use arrow_flight::decode::FlightRecordBatchStream;
    use caudal_protocol::ipc::encode_batches;
    use futures::{TryStreamExt, stream};

    use super::*;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
        let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        let columns: [(&str, ArrayRef); 2] = [("n", numbers), ("w", Arc::new(words))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    async fn read(rows: Vec<Rows>) -> Vec<RecordBatch> {
        let mut sent = vec![schema_message(&batch().schema())];
        for rows in rows {
            sent.extend(messages(Bytes::from_static(b"{}"), rows));
        }
        let sent = stream::iter(sent.into_iter().map(Ok));
        FlightRecordBatchStream::new_from_flight_data(sent).try_collect().await.unwrap()
    }

    #[tokio::test]
    async fn any_flight_client_reads_them() {
        let packed = || of_streams(&[encode_batches(&[batch()]).unwrap()]).unwrap();
        let batches = || of_batches(&[batch()]).unwrap();
        let all = read(vec![batches(), packed(), batches(), packed()]).await;
        assert_eq!(all, vec![batch(); 4]);
    }

    #[tokio::test]
    async fn one_batch_is_passed_on_as_it_came_and_several_are_made_one() {
        // Not compressed: what was encoded anew would be.
        let mut writer = StreamWriter::try_new(vec![], &batch().schema()).unwrap();
        writer.write(&batch()).unwrap();
        let stream = Bytes::from(writer.into_inner().unwrap());
        let rows = of_streams(std::slice::from_ref(&stream)).unwrap();
        assert_eq!(rows, ipc::messages(&stream).unwrap()[1..]);
        assert_ne!(rows, of_batches(&[batch()]).unwrap());
        let two = of_streams(&[stream.clone(), Bytes::new(), stream]).unwrap();
        let [joined] = &read(vec![two]).await[..] else { panic!("one batch") };
        assert_eq!(*joined, concat_batches(&batch().schema(), [&batch(), &batch()]).unwrap());
        assert_eq!(of_streams(&[]).unwrap(), []);
    }
}
