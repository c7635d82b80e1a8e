//! Takes the batches of a table. Their bytes are passed on as they came: decoded once, to know that
//! they are what they say, and not encoded again.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use bytes::{BufMut, Bytes, BytesMut};
use caudal_core::{SessionId, TableFragment, TableId, limits, schema, wire};
use caudal_failpoint::hit;
use tokio::sync::SemaphorePermit;

use crate::open_sessions::OpenSession;
use crate::tokens::Owner;
use crate::{Error, Gateway};

/// Room for the header that the broker's message puts before the rows.
const HEADER_BYTES_MAX: usize = 1 << 10;

/// What tells a message of an IPC stream from what older versions wrote, and ends a stream if its
/// length is none.
const CONTINUATION: u32 = u32::MAX;

/// A stream of batches of one table.
pub struct TableStream {
    gateway: Arc<Gateway>,
    open: Arc<OpenSession>,
    table: TableId,
    /// As the first message of an IPC stream.
    schema: Bytes,
}

/// An IPC message as Flight carries it.
pub struct EncodedBatch {
    pub header: Bytes,
    pub body: Bytes,
}

impl Gateway {
    /// Begins to take batches of a table, which have to be of the schema that was asked for.
    pub async fn put(
        self: &Arc<Self>,
        owner: &Owner,
        session: &SessionId,
        table: TableId,
        given: &Schema,
    ) -> Result<TableStream, Error> {
        let open = self.find(owner, session).await?;
        open.check_table(table)?;
        let plan = open.session.plan.table(table);
        let wrong = |difference| Error::WrongSchema { table: plan.name.clone(), difference };
        if let Some(difference) = schema::difference(&plan.schema, given) {
            return Err(wrong(difference));
        }
        // The plan's own: what the client says beside names and types is not passed on.
        let schema = schema::encapsulated(&plan.schema).map_err(|e| wrong(e.to_string()))?.into();
        Ok(TableStream { gateway: Arc::clone(self), open, table, schema })
    }
}

impl TableStream {
    /// Takes one batch; returns when it is safe.
    pub async fn put(&self, number: u32, encoded: EncodedBatch) -> Result<(), Error> {
        let stream = ipc_stream(&self.schema, &encoded);
        if stream.len() + HEADER_BYTES_MAX > limits::WIRE_BYTES_MAX {
            return Err(Error::TooLarge { bytes_max: limits::WIRE_BYTES_MAX });
        }
        let memory_bytes =
            wire::memory_bytes(&stream).map_err(|e| self.bad(number, e.to_string()))?;
        let _in_hand = self.wait_for_memory(stream.len() as u64 + memory_bytes).await;
        let batch = self.check(number, stream.clone()).await?;
        hit("put.before_publish");
        let fragment = TableFragment { table: self.table, number, batch, encoded: Some(stream) };
        match self.open.session.put(fragment).await {
            Ok(()) => {
                hit("put.confirmed");
                Ok(())
            }
            Err(error) => Err(self.gateway.explain(&self.open, error).await),
        }
    }

    /// What is larger than all there is has all of it.
    async fn wait_for_memory(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(limits::PUT_MEMORY_BYTES_MAX);
        // Nobody closes the semaphore: there is always a permit in the end.
        self.open.put_memory.acquire_many(bytes).await.ok()
    }

    /// Decompressing takes milliseconds: not on a thread that has heartbeats to answer.
    async fn check(&self, number: u32, stream: Bytes) -> Result<RecordBatch, Error> {
        let decoded = tokio::task::spawn_blocking(move || wire::one_batch(stream)).await?;
        let batch = decoded.map_err(|error| self.bad(number, error.to_string()))?;
        if batch.num_rows() > limits::FRAGMENT_ROWS_MAX {
            let (rows, max) = (batch.num_rows(), limits::FRAGMENT_ROWS_MAX);
            return Err(self.bad(number, format!("{rows} rows, where {max} are the most")));
        }
        Ok(batch)
    }

    fn bad(&self, number: u32, reason: String) -> Error {
        let table = self.open.session.plan.table(self.table).name.clone();
        Error::BadFragment { table, number, reason }
    }
}

/// The schema, the batch and the end, as one IPC stream.
fn ipc_stream(schema: &Bytes, EncodedBatch { header, body }: &EncodedBatch) -> Bytes {
    let padding_bytes = header.len().next_multiple_of(8) - header.len();
    let length = header.len() + padding_bytes;
    let mut stream = BytesMut::with_capacity(schema.len() + 8 + length + body.len() + 8);
    stream.put_slice(schema);
    stream.put_u32_le(CONTINUATION);
    stream.put_u32_le(u32::try_from(length).expect("a message is far below 4 GiB"));
    stream.put_slice(header);
    stream.put_bytes(0, padding_bytes);
    stream.put_slice(body);
    stream.put_u32_le(CONTINUATION);
    stream.put_u32_le(0);
    stream.freeze()
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use arrow_flight::utils::batches_to_flight_data;

    use super::*;

    #[test]
    fn what_flight_carries_is_a_stream_again() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("ccc")]));
        let batch = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
        let messages = batches_to_flight_data(&batch.schema(), vec![batch.clone()]).unwrap();
        let [_, message] = &messages[..] else { panic!("a schema and a batch") };
        let schema = schema::encapsulated(&batch.schema()).unwrap().into();
        let encoded =
            EncodedBatch { header: message.data_header.clone(), body: message.data_body.clone() };
        let stream = ipc_stream(&schema, &encoded);
        assert_eq!(wire::one_batch(stream).unwrap(), batch);
    }
}
