//! Takes the batches of a table. Their bytes are passed on as they came, packed: what can be known of them without
//! unpacking them is checked here, the rest by their receiver.

use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use bytes::Bytes;
use caudal_core::{SessionId, TableId, limits};
use caudal_protocol::calls::PutBatch;
use caudal_protocol::encoding::Encodings;
use caudal_protocol::ipc::{self, IpcMessage};
use caudal_protocol::{schema, wire};
use caudal_runtime::failpoint::hit;
use tokio::sync::OwnedSemaphorePermit;

use crate::open_sessions::OpenSession;
use crate::quota::Share;
use crate::tokens::Owner;
use crate::{Error, Gateway};

/// A stream of batches of one table.
pub struct TableStream {
    gateway: Arc<Gateway>,
    open: Arc<OpenSession>,
    table: TableId,
    _share: Share,
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
        let needs = &open.session.outline.table(table).needs;
        if let Some(difference) = schema::difference(&needs.schema, given) {
            return Err(Error::WrongSchema { table: needs.name.clone(), difference });
        }
        let share = self.quotas.puts.take(&session.0)?;
        Ok(TableStream { gateway: Arc::clone(self), open, table, _share: share })
    }
}

impl TableStream {
    /// Waits for memory for a batch, and only then may the next one be read. It is held until the batch is safe.
    pub async fn wait_for_memory(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(limits::PUT_MEMORY_BYTES_MAX);
        // Nobody closes the semaphore: there is always a permit in the end.
        Arc::clone(&self.open.put_memory).acquire_many_owned(bytes).await.ok()
    }

    /// Takes one batch; returns when it is safe.
    pub async fn put(
        &self,
        PutBatch { number, encodings }: PutBatch,
        rows: IpcMessage,
    ) -> Result<(), Error> {
        let schema =
            self.schema(&encodings).map_err(|error| self.bad(number, error.to_string()))?;
        let pieces = ipc::stream_of([schema, rows]);
        let rows_bytes: usize = pieces.iter().map(Bytes::len).sum();
        let message = wire::encode_table(self.table, number, &encodings, &pieces);
        let message = message.map_err(|error| self.bad(number, error.to_string()))?;
        drop(pieces);
        if message.len() > limits::WIRE_BYTES_MAX {
            return Err(Error::TooLarge { bytes_max: limits::WIRE_BYTES_MAX });
        }
        let checked = check(&message.slice(message.len() - rows_bytes..), &encodings);
        checked.map_err(|reason| self.bad(number, reason))?;
        hit("put.before_publish");
        let put = || self.open.session.put_encoded(message.clone());
        self.gateway.with_queue(&self.open, put).await?;
        hit("put.confirmed");
        Ok(())
    }

    /// The first message of an IPC stream. It is the plan's own schema: what the client says beside names and types
    /// is not passed on.
    fn schema(&self, encodings: &Encodings) -> Result<IpcMessage, ArrowError> {
        let needs = &self.open.session.outline.table(self.table).needs;
        Ok(ipc::encode_schema(&encodings.schema(&needs.schema)?))
    }

    fn bad(&self, number: u32, reason: String) -> Error {
        let table = self.open.session.outline.table(self.table).needs.name.clone();
        Error::BadFragment { table, number, reason }
    }
}

/// The reason why these cannot be the rows of a fragment.
fn check(rows: &Bytes, encodings: &Encodings) -> Result<(), String> {
    let shape = ipc::shape(rows).map_err(|error| error.to_string())?;
    let most = |what: &str, is: u64, max: usize| match is > max as u64 {
        true => Err(format!("{is} {what}, where {max} are the most")),
        false => Ok(()),
    };
    if shape.batches != 1 {
        return Err(format!("{} batches instead of one", shape.batches));
    }
    most("bytes of memory", shape.decoded_bytes(encodings), limits::BATCH_MEMORY_BYTES_MAX)?;
    most("rows", shape.rows, limits::FRAGMENT_ROWS_MAX)
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, RecordBatch, UInt8Array};

    use super::*;

    #[test]
    fn encoded_rows_are_counted_with_what_they_are_decoded_to() {
        let encodings = |columns: usize| -> Encodings {
            let frame = r#"{"steps":{"of":"int64","bits":8,"base":0,"step":1}}"#;
            serde_json::from_str(&format!("[{}]", vec![frame; columns].join(","))).unwrap()
        };
        let zeros: ArrayRef = Arc::new(UInt8Array::from(vec![0; 1 << 20]));
        let columns = (0..20).map(|at| (at.to_string(), Arc::clone(&zeros)));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let rows = ipc::encode_batches(&[batch]).unwrap();
        assert_eq!(check(&rows, &encodings(10)), Ok(()));
        let refused = check(&rows, &encodings(20)).unwrap_err();
        assert!(refused.starts_with("356515840 bytes of memory"), "{refused}");
    }
}
