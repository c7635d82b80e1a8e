//! Sends tables: several tasks read, parse and put fragments of one table at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_core::TableId;
use caudal_csv::Reader;
use caudal_protocol::TableFragment;
use caudal_runtime::task;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use crate::gather::{Enough, Gathered};
use crate::{Error, Event, Service, Upload, UploadCounters};

pub async fn all(
    service: Arc<dyn Service>,
    uploads: Vec<Upload>,
    readers: usize,
    counters: Arc<UploadCounters>,
    events: Sender<Event>,
) -> Result<(), Error> {
    for upload in uploads {
        let table = upload.table;
        let sending = Sending {
            service: Arc::clone(&service),
            table,
            reader: upload.reader,
            counters: Arc::clone(&counters),
            events: events.clone(),
            fragments: Arc::default(),
        };
        let count = Arc::clone(&sending.fragments);
        let mut tasks = JoinSet::new();
        for _ in 0..readers {
            task::spawn_on(&mut tasks, sending.clone().run());
        }
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(Error::Panicked)??;
        }
        let count = sending.number(count.load(Ordering::Relaxed))?;
        service.end_table(table, count).await?;
    }
    Ok(())
}

/// One of the tasks that send a table.
#[derive(Clone)]
struct Sending {
    service: Arc<dyn Service>,
    table: TableId,
    reader: Arc<Reader>,
    counters: Arc<UploadCounters>,
    events: Sender<Event>,
    fragments: Arc<AtomicU64>,
}

impl Sending {
    async fn run(self) -> Result<(), Error> {
        let enough = Enough::of(self.service.fragment_bytes(), self.reader.total_bytes());
        let mut gathered = Gathered::default();
        while let Some(chunk) = self.reader.next_chunk()? {
            let parsed = self.reader.parse(chunk)?;
            let rows = parsed.batch.num_rows();
            self.counters.table(self.table).add(parsed.bytes, rows, parsed.rejects.len());
            if !parsed.rejects.is_empty() {
                // A run that nobody listens to any more is about to end.
                let _ = self.events.send(Event::Rejected(self.table, parsed.rejects)).await;
            }
            if gathered.is_crowded_by(&parsed.batch) {
                self.put(&mut gathered).await?;
            }
            gathered.add(parsed.batch, parsed.bytes);
            if gathered.is(enough) {
                self.put(&mut gathered).await?;
            }
        }
        self.put(&mut gathered).await
    }

    async fn put(&self, gathered: &mut Gathered) -> Result<(), Error> {
        let Some(batch) = gathered.take() else { return Ok(()) };
        let number = self.number(self.fragments.fetch_add(1, Ordering::Relaxed))?;
        self.service.put(TableFragment::new(self.table, number, batch)).await
    }

    fn number(&self, number: u64) -> Result<u32, Error> {
        u32::try_from(number).map_err(|_| Error::TooLarge { table: self.table })
    }
}
