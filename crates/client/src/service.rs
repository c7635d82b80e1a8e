//! Interface of a run to the server of its session: a gateway somewhere, or a session in this process.

use arrow::array::RecordBatch;
use async_trait::async_trait;
use caudal_core::{Failure, QueryId, Source, TableId};
use caudal_protocol::TableFragment;
use caudal_protocol::calls::{ResultWhat, TableRows};

use crate::Error;

/// An open session, as its client sees it.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Of each query, the sources whose fragments make up its answer.
    fn sources(&self) -> &[Vec<Source>];

    /// Reason why a query cannot be answered, if it cannot.
    fn refusal(&self, _: QueryId) -> Option<&Failure> {
        None
    }

    /// Bytes of rows that make a fragment worth its way: none, where it has none.
    fn fragment_bytes(&self) -> usize {
        0
    }

    /// Takes a fragment of a table, waiting for room as long as it takes.
    async fn put(&self, fragment: TableFragment) -> Result<(), Error>;

    /// Says how many fragments a table has, and what became of its rows; returns when all of them are safe.
    async fn end_table(&self, table: TableId, count: u32, rows: TableRows) -> Result<(), Error>;

    /// The messages of a query's answer.
    async fn answer(&self, query: QueryId) -> Result<Box<dyn Answer>, Error>;

    /// Returns when the session waits for something else than it is known to, with what that is:
    /// nothing, if it goes on. Fails when the session has.
    async fn waiting_for(&self, known: &[String]) -> Result<Vec<String>, Error>;

    /// Returns when all tables have to be sent again, more often than was done, with how often in all. Never, where nothing
    /// can be lost.
    async fn resend(&self, _done: u64) -> u64 {
        std::future::pending().await
    }

    /// Ends the session when all its answers are there, and removes everything of it.
    async fn finish(&self) -> Result<(), Error>;

    /// Ends the session at once, whatever it is doing; as well as can be.
    async fn abort(&self);
}

/// The messages of a query's answer, each at least once, in no order one may rely on.
#[async_trait]
pub trait Answer: Send {
    /// The next message and its rows. A lost stream is resumed, or is an error.
    async fn next(&mut self) -> Result<(ResultWhat, Vec<RecordBatch>), Error>;

    /// Says that what `next` gave is safe with the client and need not come again.
    async fn taken(&mut self) -> Result<(), Error>;
}
