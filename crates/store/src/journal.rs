//! A shard's journal: numbered records, each created at most once.
//!
//! ```text
//! <folder>/log/00000000000000000000  placeholder ┐ compacted: part of the snapshot
//! <folder>/log/00000000000000000001  placeholder ┘
//! <folder>/log/00000000000000000002  snapshot    the base: what the journal starts from
//! <folder>/log/00000000000000000003  entry
//! <folder>/log/00000000000000000004  entry       the last: names the base
//! ```
//!
//! The invariants, used by the tests and by those who rely on a journal:
//!
//! - *one writer a number*: a record is created if absent. Who finds its number taken by another is
//!   [`Error::Fenced`], has written nothing, and loads again.
//! - *no gaps*: a number is created only by who has read or written the one before it, and never
//!   freed while the session lives. So the highest number listed has all others below it.
//! - *written is read*: what [`Journal::append`] has returned from is what every later load sees, in
//!   the order of the numbers, once. A snapshot stands for all records before it.
//! - *the last knows the base*: a load that begins after a snapshot was written reads nothing before
//!   it; so compaction touches only what such a load does not read.
//! - *a placeholder is seen*: a load that began earlier reads every number from its older base on. Where
//!   compaction was faster it meets a placeholder, and begins again ([`Error::Compacted`]); where it was not, it
//!   has an older but whole state, and its first write is fenced.
//!
//! By the last two any order of compaction is right, also when it stops half-way or two processes compact
//! at once. We compact the **oldest first**, a few at a time: a load that is bound to fail does so at its
//! first read, not after the last but one; the old snapshot, the largest of all, goes first; and what
//! an interrupted compaction leaves is a range, which the next one finds without looking: each record says
//! up to where compaction had come when it was written.

use std::sync::Arc;

use bytes::Bytes;
use caudal_core::limits;
use caudal_runtime::failpoint;
use futures::stream::{self, StreamExt, TryStreamExt};

use crate::allowance::Allowance;
use crate::error::Error;
use crate::mutants;
use crate::record::{self, Found, Header, Origin, Record};
use crate::sealed::seal;
use crate::store::{Created, Store, StoreError};

/// The end of a journal, where its owner writes. It comes from a [`Loader`](crate::Loader).
///
/// After an error it is not known whether the record was written. Writing on is safe: it succeeds,
/// or it is fenced by our own record.
pub struct Journal {
    store: Arc<dyn Store>,
    folder: String,
    allowance: Allowance,
    /// The number of the next record.
    next: u64,
    base: u64,
    compacted: u64,
    size: Size,
}

/// The size of a journal: what a load would have to read, in bytes of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub snapshot_bytes: u64,
    /// Since the snapshot.
    pub entries: u64,
    pub entries_bytes: u64,
}

impl Size {
    pub fn bytes(&self) -> u64 {
        self.snapshot_bytes + self.entries_bytes
    }

    fn of_snapshot(snapshot_bytes: u64) -> Self {
        Self { snapshot_bytes, ..Self::default() }
    }

    fn with_entry(self, entry_bytes: u64) -> Self {
        let entries_bytes = self.entries_bytes + entry_bytes;
        Self { entries: self.entries + 1, entries_bytes, ..self }
    }
}

impl Journal {
    /// A journal of which nothing has been read yet.
    pub(crate) fn new(store: Arc<dyn Store>, folder: String, bytes_max: u64, base: u64) -> Self {
        let size = Size::default();
        let allowance = Allowance::new(bytes_max);
        Self { store, folder, allowance, next: base, base, compacted: 0, size }
    }

    /// Moves the end behind a record that was read.
    pub(crate) fn take_over(&mut self, found: &Found) -> Result<(), Error> {
        let Origin { number, base, compacted, .. } = found.origin;
        if (number, base) != (self.next, self.base) {
            let reason = format!("it starts from record {base}, the others from {}", self.base);
            return Err(Error::corrupt(&record::name(&self.folder, number), reason));
        }
        self.next += 1;
        self.compacted = compacted;
        self.size = match found.record {
            Record::Snapshot(_) => Size::of_snapshot(found.object_bytes),
            Record::Entry(_) => self.size.with_entry(found.object_bytes),
        };
        self.allowance.journal_is(self.size.bytes());
        Ok(())
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// What the journal may become, less what is taken of it by others.
    pub fn allowance(&self) -> Allowance {
        self.allowance.clone()
    }

    /// Writes what is new. Where it does not fit any more, a snapshot may still do.
    pub async fn append(&mut self, body: Bytes) -> Result<(), Error> {
        let object = seal(&Header::Entry(self.origin(self.base)), &[body]);
        let size = self.size.with_entry(object.len() as u64);
        self.create(object, self.base, size).await?;
        failpoint::hit("journal.written");
        Ok(())
    }

    /// Writes what stands for all records so far. [`Journal::compact`] then frees their space.
    pub async fn snapshot(&mut self, body: Bytes) -> Result<(), Error> {
        let object = seal(&Header::Snapshot(self.origin(self.next)), &[body]);
        let size = Size::of_snapshot(object.len() as u64);
        self.create(object, self.next, size).await?;
        failpoint::hit("journal.snapshot_written");
        Ok(())
    }

    /// Replaces what the last snapshot stands for by placeholders. It may be interrupted, and repeated.
    pub async fn compact(&mut self) -> Result<(), Error> {
        let store = &*self.store;
        let mut compacting = stream::iter(self.compacted..self.base)
            .map(|number| (number, record::name(&self.folder, number)))
            .map(async |(number, name)| {
                store.put(&name, record::placeholder()).await?;
                mutants::compaction_frees(store, &name).await?;
                Ok::<_, StoreError>(number)
            })
            .buffered(limits::JOURNAL_COMPACTIONS_AT_ONCE);
        while let Some(number) = compacting.try_next().await? {
            self.compacted = number + 1;
            failpoint::hit("journal.compacting");
        }
        Ok(())
    }

    fn origin(&self, base: u64) -> Origin {
        Origin { number: self.next, base, compacted: self.compacted, writer: fastrand::u64(..) }
    }

    /// Creates the next record, after which the journal has this base and this size.
    async fn create(&mut self, object: Bytes, base: u64, size: Size) -> Result<(), Error> {
        let name = record::name(&self.folder, self.next);
        check_size(&name, object.len() as u64, limits::JOURNAL_RECORD_BYTES_MAX as u64)?;
        self.allowance.check_journal(&name, size.bytes())?;

        failpoint::hit("journal.before_write");
        let created = match mutants::no_fence(self.store.as_ref(), &name, &object).await? {
            Some(unfenced) => unfenced,
            None => self.store.create(&name, object.clone()).await?,
        };
        // The answer to a create that succeeded may have been lost, and the store asked again.
        let is_ours = created == Created::New || self.store.get(&name).await? == Some(object);
        if !is_ours {
            return Err(Error::Fenced { folder: self.folder.clone(), number: self.next });
        }
        (self.next, self.base, self.size) = (self.next + 1, base, size);
        self.allowance.journal_is(size.bytes());
        Ok(())
    }
}

fn check_size(name: &str, bytes: u64, bytes_max: u64) -> Result<(), Error> {
    match bytes <= bytes_max {
        true => Ok(()),
        false => Err(Error::TooLarge { name: name.to_string(), bytes, bytes_max }),
    }
}
