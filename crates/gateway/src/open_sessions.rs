//! The sessions that a gateway has planned, so that each is planned once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use caudal_core::manifest::Manifest;
use caudal_core::{Objects, SessionId, limits};
use tokio::sync::{Semaphore, watch};

use crate::Session;

pub struct OpenSession {
    pub manifest: Manifest,
    pub session: Session,
    /// Packed bytes of batches that may be in hand: what one client floods is not another's memory.
    pub put_memory: Semaphore,
    /// The highest epoch of the session's holds that this gateway knows of.
    epoch: watch::Sender<u64>,
}

impl OpenSession {
    pub fn new(manifest: Manifest, session: Session) -> Self {
        let put_memory = Semaphore::new(limits::PUT_MEMORY_BYTES_MAX as usize);
        Self { manifest, session, put_memory, epoch: watch::Sender::new(0) }
    }

    pub fn objects(&self) -> Objects {
        Objects { session: self.manifest.session.clone() }
    }

    /// The client has attached with this epoch, here or elsewhere.
    pub fn has_epoch(&self, epoch: u64) {
        self.epoch.send_if_modified(|known| {
            let is_news = epoch > *known;
            *known = epoch.max(*known);
            is_news
        });
    }

    /// Returns when the client has attached anew since it had this epoch, and streams of the old one
    /// are to make way. One of before the first attach belongs to that.
    pub async fn superseded(&self, since: u64) {
        let mut epochs = self.epoch.subscribe();
        // Waiting cannot fail: the sender is a field of this very session.
        let first = epochs.wait_for(|epoch| *epoch > 0).await.map_or(0, |epoch| *epoch);
        let since = if since == 0 { first } else { since };
        let _ = epochs.wait_for(|epoch| *epoch > since).await;
    }

    pub fn epoch(&self) -> u64 {
        *self.epoch.borrow()
    }
}

/// Bounded by the sessions there are: what has ended is forgotten by the janitor, within a tick.
#[derive(Default)]
pub struct OpenSessions {
    by_id: Mutex<HashMap<SessionId, Arc<OpenSession>>>,
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
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<OpenSession>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
