//! Progress of a run, for display.

use std::sync::atomic::{AtomicU64, Ordering};

use caudal_core::TableId;

#[derive(Debug)]
pub struct Progress {
    pub tables: Vec<TableProgress>,
}

#[derive(Debug, Default)]
pub struct TableProgress {
    pub bytes: AtomicU64,
    pub rows: AtomicU64,
    pub rejected: AtomicU64,
}

impl Progress {
    pub fn new(tables: usize) -> Self {
        Self { tables: (0..tables).map(|_| TableProgress::default()).collect() }
    }

    pub fn table(&self, table: TableId) -> &TableProgress {
        &self.tables[table.index()]
    }
}

impl TableProgress {
    pub fn add(&self, bytes: usize, rows: usize, rejected: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.rejected.fetch_add(rejected as u64, Ordering::Relaxed);
    }
}
