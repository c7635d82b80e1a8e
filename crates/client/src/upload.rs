//! Sends tables: several tasks read, parse and put fragments of one table at a time.
//!
//! Which chunks of its files a fragment is made of depends on who reads when, and is kept: a fragment that has to be sent
//! again has to have the same rows ([`resend`](crate::resend)).

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use caudal_core::TableId;
use caudal_protocol::TableFragment;
use caudal_protocol::calls::TableRows;
use caudal_runtime::task;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use crate::chunks::Chunks;
use crate::gather::{Enough, Gathered};
use crate::{Error, Event, Service, Upload, UploadCounters};

pub async fn all(
    service: Arc<dyn Service>,
    uploads: Vec<Upload>,
    readers: usize,
    counters: Arc<UploadCounters>,
    events: Sender<Event>,
) -> Result<Vec<Sent>, Error> {
    let mut all = vec![];
    for upload in uploads {
        let table = upload.table;
        let sending = Sending {
            service: Arc::clone(&service),
            table,
            chunks: Chunks::of(&upload.source),
            total_bytes: upload.source.total_bytes(),
            counters: Arc::clone(&counters),
            events: events.clone(),
            fragments: Arc::default(),
        };
        let mut tasks = JoinSet::new();
        for _ in 0..readers {
            task::spawn_on(&mut tasks, sending.clone().run());
        }
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(Error::Panicked)??;
        }
        // Before its end is known: without it there is no complete answer.
        let counted = counters.table(table);
        let rows = TableRows {
            sent: counted.rows.load(Relaxed),
            rejected: counted.rejected.load(Relaxed),
        };
        upload.source.check_loss(rows.sent, rows.rejected)?;
        let notes = upload.source.notes();
        if !notes.is_empty() {
            let _ = events.send(Event::Noted(table, notes)).await;
        }
        let fragments = std::mem::take(&mut *sending.fragments());
        let sent = Sent { upload, fragments, rows };
        service.end_table(table, sent.count()?, rows).await?;
        all.push(sent);
    }
    Ok(all)
}

/// A table that has been sent.
pub struct Sent {
    pub upload: Upload,
    /// Of each fragment, the numbers of the chunks that it was made of.
    pub fragments: Vec<Vec<u64>>,
    pub rows: TableRows,
}

impl Sent {
    pub fn count(&self) -> Result<u32, Error> {
        number(self.upload.table, self.fragments.len())
    }
}

pub fn number(table: TableId, number: usize) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| Error::TooLarge { table })
}

/// One of the tasks that send a table.
#[derive(Clone)]
struct Sending {
    service: Arc<dyn Service>,
    table: TableId,
    chunks: Chunks,
    total_bytes: Option<u64>,
    counters: Arc<UploadCounters>,
    events: Sender<Event>,
    /// Of each fragment so far, the numbers of its chunks.
    fragments: Arc<Mutex<Vec<Vec<u64>>>>,
}

impl Sending {
    async fn run(self) -> Result<(), Error> {
        let enough =
            Enough::of(self.service.fragment_bytes(), self.total_bytes.unwrap_or(u64::MAX));
        let mut gathered = Gathered::default();
        while let Some(chunk) = self.chunks.next().await? {
            let chunk_number = chunk.number();
            let parsed = chunk.parse()?;
            let rows = parsed.batch.num_rows();
            self.counters.table(self.table).add(parsed.bytes, rows, parsed.rejects.len());
            if !parsed.rejects.is_empty() {
                // A run that nobody listens to any more is about to end.
                let _ = self.events.send(Event::Rejected(self.table, parsed.rejects)).await;
            }
            if gathered.is_crowded_by(&parsed.batch) {
                self.put(&mut gathered).await?;
            }
            gathered.add(chunk_number, parsed.batch, parsed.bytes);
            if gathered.is(enough) {
                self.put(&mut gathered).await?;
            }
        }
        self.put(&mut gathered).await
    }

    async fn put(&self, gathered: &mut Gathered) -> Result<(), Error> {
        let Some((chunks, batch)) = gathered.take() else { return Ok(()) };
        let number = {
            let mut fragments = self.fragments();
            fragments.push(chunks);
            number(self.table, fragments.len() - 1)?
        };
        self.service.put(TableFragment::new(self.table, number, batch)).await
    }

    fn fragments(&self) -> MutexGuard<'_, Vec<Vec<u64>>> {
        self.fragments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
