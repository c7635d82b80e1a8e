//! The sessions that a gateway has planned, so that each is planned once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use caudal_core::{SessionId, TableId, limits};
use caudal_protocol::calls::TableRows;
use caudal_protocol::manifest::Manifest;
use caudal_runtime::Level;
use tokio::sync::Semaphore;

use crate::Session;
use crate::long_works::LongWorks;

pub struct OpenSession {
    pub manifest: Manifest,
    pub session: Session,
    /// Packed bytes of batches that may be in hand: what one client floods is not another's memory.
    pub put_memory: Arc<Semaphore>,
    pub long_works: LongWorks,
    /// Raised by whoever misses a queue of the session.
    pub queues_missed: Level,
    /// What became of the rows of each table, as far as this gateway knows.
    rows: Mutex<Vec<Option<TableRows>>>,
    /// The highest epoch of the session's leases that this gateway knows of.
    epoch: Level,
}

impl OpenSession {
    pub fn new(manifest: Manifest, session: Session) -> Self {
        let put_memory = Arc::new(Semaphore::new(limits::PUT_MEMORY_BYTES_MAX as usize));
        let (long_works, queues_missed, epoch) = Default::default();
        let rows = Mutex::new(vec![None; manifest.tables.len()]);
        Self { manifest, session, put_memory, long_works, queues_missed, rows, epoch }
    }

    pub fn has_rows(&self, table: TableId, rows: TableRows) {
        if let Some(known) = self.lock_rows().get_mut(table.index()) {
            *known = Some(rows);
        }
    }

    /// What became of the rows of each table, as far as it is known here.
    pub fn rows(&self) -> Vec<Option<TableRows>> {
        self.lock_rows().clone()
    }

    fn lock_rows(&self) -> MutexGuard<'_, Vec<Option<TableRows>>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client has attached with this epoch, here or elsewhere.
    pub fn has_epoch(&self, epoch: u64) {
        self.epoch.raise_to(epoch);
    }

    /// Returns when the client has attached anew since it had this epoch, and streams of the old one
    /// are to make way. One of before the first attach belongs to that.
    pub async fn superseded(&self, since: u64) {
        let since = if since == 0 { self.epoch.above(0).await } else { since };
        self.epoch.above(since).await;
    }

    pub fn epoch(&self) -> u64 {
        self.epoch.get()
    }
}

/// Bounded by the sessions there are: what has ended is forgotten by the janitor, within a tick.
#[derive(Default)]
pub struct OpenSessions {
    by_id: Mutex<BTreeMap<SessionId, Arc<OpenSession>>>,
}

impl OpenSessions {
    pub fn get(&self, session: &SessionId) -> Option<Arc<OpenSession>> {
        self.lock().get(session).cloned()
    }

    /// The one that was there first counts: streams may know it.
    pub fn insert(&self, open: OpenSession) -> Arc<OpenSession> {
        let id = open.manifest.session.clone();
        Arc::clone(self.lock().entry(id).or_insert_with(|| Arc::new(open)))
    }

    pub fn forget(&self, session: &SessionId) {
        self.lock().remove(session);
    }

    pub fn ids(&self) -> Vec<SessionId> {
        self.lock().keys().cloned().collect()
    }

    /// A lock that a panicking holder has left is still a lock: every change under it is one step.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<OpenSession>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
