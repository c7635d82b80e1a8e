//! Reading a journal back.
//!
//! The last record says where the journal starts, so a loader reads that one and then all from the
//! start on. A list that has missed the newest records is harmless: who goes on from an old end is
//! fenced by its first write.

use std::future::ready;
use std::sync::Arc;

use caudal_core::limits;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use crate::error::Error;
use crate::journal::Journal;
use crate::record::{self, Found, Record};
use crate::store::Store;

/// A journal that is being read. A few records are in memory at a time.
pub struct Loader {
    /// As far as it has been read.
    journal: Journal,
    /// The records that are left to read.
    records: BoxStream<'static, Result<Found, Error>>,
    records_unread: u64,
}

impl Loader {
    /// Begins to read the journal in `folder`, which may be empty. What is later written to it may
    /// make the part since its last snapshot `bytes_max` long.
    pub async fn open(
        store: Arc<dyn Store>,
        folder: impl Into<String>,
        bytes_max: u64,
    ) -> Result<Self, Error> {
        let folder = folder.into();
        let names = store.list(&record::log(&folder)).await?;
        let Some(last_name) = names.last() else {
            let journal = Journal::new(store, folder, bytes_max, 0);
            return Ok(Self { journal, records: stream::empty().boxed(), records_unread: 0 });
        };
        let last_number = record::number_of(last_name)?;
        let last = record::read(&*store, &folder, last_number).await?;
        let base = last.origin.base;

        let journal = Journal::new(Arc::clone(&store), folder.clone(), bytes_max, base);
        let before_last = stream::iter(base..last_number)
            .map(move |number| {
                let (store, folder) = (Arc::clone(&store), folder.clone());
                async move { record::read(&*store, &folder, number).await }
            })
            .buffered(limits::JOURNAL_READ_AHEAD_RECORDS);
        let records = before_last.chain(stream::once(ready(Ok(last)))).boxed();
        Ok(Self { journal, records, records_unread: last_number - base + 1 })
    }

    /// The next record. After [`Error::Compacted`] the load has to begin again: another process wrote
    /// a newer snapshot meanwhile, and what it replaces is going away.
    pub async fn next(&mut self) -> Result<Option<Record>, Error> {
        let Some(found) = self.records.try_next().await? else { return Ok(None) };
        self.records_unread -= 1;
        self.journal.take_over(&found)?;
        Ok(Some(found.record))
    }

    /// The journal, to go on with after its last record.
    pub fn into_journal(self) -> Journal {
        assert_eq!(self.records_unread, 0, "a journal is read to its end before it is written to");
        self.journal
    }
}
