//! Counters of what has been read and sent.

use std::sync::atomic::{AtomicU64, Ordering};

use caudal_core::TableId;

/// Counters of an upload, a table each.
#[derive(Debug)]
pub struct UploadCounters {
    pub tables: Vec<TableCounters>,
}

/// Counters of a table.
#[derive(Debug, Default)]
pub struct TableCounters {
    pub bytes: AtomicU64,
    pub rows: AtomicU64,
    pub rejected: AtomicU64,
}

impl UploadCounters {
    pub fn new(tables: usize) -> Self {
        Self { tables: (0..tables).map(|_| TableCounters::default()).collect() }
    }

    pub fn table(&self, table: TableId) -> &TableCounters {
        &self.tables[table.index()]
    }
}

impl TableCounters {
    pub fn add(&self, bytes: usize, rows: usize, rejected: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.rejected.fetch_add(rejected as u64, Ordering::Relaxed);
    }
}
