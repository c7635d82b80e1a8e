//! Progress of a run.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use caudal_client::{Upload, UploadCounters};
use caudal_core::TableId;
use caudal_source::Table;

/// Progress of a run, for display: a handle that outlives the run.
#[derive(Clone, Debug)]
pub struct Progress {
    pub(crate) counters: Arc<UploadCounters>,
    tables: Arc<[Sent]>,
}

#[derive(Debug)]
struct Sent {
    table: TableId,
    name: String,
    total_bytes: Option<u64>,
}

/// Progress of reading a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProgress {
    /// The table's name.
    pub name: String,
    /// Bytes of its files that have been read.
    pub bytes: u64,
    /// Bytes that are to be read of its files; of a pipe nobody knows.
    pub total_bytes: Option<u64>,
    /// Rows that have been read and fit.
    pub rows: u64,
    /// Rows that have been read and do not fit.
    pub rejected: u64,
}

impl Progress {
    pub(crate) fn new(tables: &[Table], uploads: &[Upload]) -> Self {
        let sent = |upload: &Upload| Sent {
            table: upload.table,
            name: tables[upload.table.index()].name.clone(),
            total_bytes: upload.source.total_bytes(),
        };
        Self {
            counters: Arc::new(UploadCounters::new(tables.len())),
            tables: uploads.iter().map(sent).collect(),
        }
    }

    /// Of each table that is read, in the order in which they are.
    pub fn tables(&self) -> Vec<TableProgress> {
        let now = |sent: &Sent| {
            let counters = self.counters.table(sent.table);
            TableProgress {
                name: sent.name.clone(),
                bytes: counters.bytes.load(Relaxed),
                total_bytes: sent.total_bytes,
                rows: counters.rows.load(Relaxed),
                rejected: counters.rejected.load(Relaxed),
            }
        };
        self.tables.iter().map(now).collect()
    }
}
