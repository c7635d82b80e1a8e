//! Closes sessions whose client is gone, and finishes what others began to close. Every gateway has
//! one; they need not know of each other, since whatever one does another may do again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::{Failure, SessionId, limits};
use caudal_protocol::manifest::Tombstone;
use caudal_runtime::time::{self, Instant, interval, wall_ms};
use caudal_store::slots::{self, Slot};
use caudal_store::{closed_sessions, sessions};
use tracing::warn;

use crate::watch::Watch;
use crate::{Error, Gateway};

pub struct Janitor {
    gateway: Arc<Gateway>,
    /// Of each session, the epoch and the heartbeat of its lease.
    clients: Watch<SessionId, Option<(u64, u64)>>,
    /// Slots whose session is not there, by the names of their objects.
    empty_slots: Watch<String, SessionId>,
    /// Sessions, for how long they have been seen to be open.
    open: Watch<SessionId, ()>,
    swept: Option<Instant>,
}

impl Janitor {
    pub fn new(gateway: Arc<Gateway>) -> Self {
        let (clients, empty_slots, open) = Default::default();
        Self { gateway, clients, empty_slots, open, swept: None }
    }

    /// Never ends.
    pub async fn run(mut self) {
        let mut ticks = interval(Duration::from_millis(limits::JANITOR_TICK_MS));
        loop {
            ticks.tick().await;
            if let Err(error) = self.look().await {
                warn!(%error, "janitor failed, trying again later");
            }
        }
    }

    /// One round.
    pub async fn look(&mut self) -> Result<(), Error> {
        let sessions = self.list_sessions().await?;
        for session in &sessions {
            if let Err(error) = self.look_at_session(session).await {
                warn!(%session, %error, "janitor failed, trying again later");
            }
        }
        self.look_at_slots(&sessions).await?;
        let sweep_every = Duration::from_secs(limits::TOMBSTONE_SWEEP_SECONDS);
        if self.swept.is_none_or(|swept| time::since(swept) >= sweep_every) {
            self.sweep_tombstones().await?;
            self.swept = Some(time::now());
        }
        Ok(())
    }

    /// The sessions there are. What this gateway or its janitor remembers of others is forgotten.
    async fn list_sessions(&mut self) -> Result<BTreeSet<SessionId>, Error> {
        let remembered = self.gateway.sessions.ids();
        let sessions = sessions(self.gateway.store.as_ref()).await?;
        let sessions: BTreeSet<_> = sessions.into_iter().collect();
        for gone in remembered.iter().filter(|id| !sessions.contains(*id)) {
            self.gateway.sessions.forget(gone);
        }
        self.clients.retain(|id| sessions.contains(id));
        self.open.retain(|id| sessions.contains(id));
        Ok(sessions)
    }

    async fn look_at_session(&mut self, session: &SessionId) -> Result<(), Error> {
        let gateway = Arc::clone(&self.gateway);
        let records = gateway.records_of(session);
        if let Some(tombstone) = records.tombstone().await? {
            return gateway.clean_up(&tombstone).await;
        }
        let now = time::now();
        let lease = records.latest_lease().await?;
        let heartbeat =
            lease.map(|lease| (lease.epoch, lease.record.map_or(0, |record| record.heartbeat)));
        let (grace, session_max) = (gateway.settings.grace, gateway.settings.session_max);
        let why = if self.clients.observe(session.clone(), heartbeat, now) >= grace {
            Error::ClientGone { seconds: grace.as_secs() }
        } else if self.open.observe(session.clone(), (), now) >= session_max {
            Error::SessionTooLong { seconds: session_max.as_secs() }
        } else {
            return Ok(());
        };
        match records.manifest().await? {
            Some(manifest) => {
                let tombstone = Tombstone::of(&manifest, Some(Failure::of(&why)), wall_ms());
                gateway.end_session(tombstone).await.map(|_| ())
            }
            // Left by a session so old that even its tombstone is gone.
            None => Ok(records.delete().await?),
        }
    }

    async fn look_at_slots(&mut self, sessions: &BTreeSet<SessionId>) -> Result<(), Error> {
        let now = time::now();
        let taken = slots::taken(self.gateway.store.as_ref()).await?;
        let empty: Vec<_> =
            taken.into_iter().filter(|slot| !sessions.contains(&slot.session)).collect();
        self.empty_slots.retain(|name| empty.iter().any(|slot| slot.name == *name));
        for slot in empty {
            let Slot { name, session, .. } = &slot;
            let empty_for = self.empty_slots.observe(name.clone(), session.clone(), now);
            // One that is being opened has its slot before anything else, and no tombstone.
            let is_over = self.gateway.records_of(session).tombstone().await?.is_some();
            if is_over || empty_for >= self.gateway.settings.grace {
                slot.free(self.gateway.store.as_ref()).await?;
            }
        }
        Ok(())
    }

    async fn sweep_tombstones(&self) -> Result<(), Error> {
        for session in closed_sessions(self.gateway.store.as_ref()).await? {
            if let Err(error) = self.sweep_tombstone(&session).await {
                warn!(%session, %error, "janitor failed, trying again later");
            }
        }
        Ok(())
    }

    /// Forgets a session that ended long ago, after a last look for what somebody who had slept since
    /// then may have brought back.
    async fn sweep_tombstone(&self, session: &SessionId) -> Result<(), Error> {
        let records = self.gateway.records_of(session);
        let oldest_ms = wall_ms().saturating_sub(3_600_000 * limits::TOMBSTONE_HOURS);
        match records.tombstone().await? {
            Some(tombstone) if tombstone.closed_ms < oldest_ms => {
                self.gateway.clean_up(&tombstone).await?;
                Ok(records.delete_tombstone().await?)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_broker::MemoryBroker;
    use caudal_protocol::calls::OpenRequest;
    use caudal_protocol::manifest::QuerySpec;

    use super::*;
    use crate::{Owner, Settings};

    #[tokio::test]
    async fn nothing_of_a_session_that_ended_elsewhere_stays_in_memory() {
        let broker = Arc::new(Arc::new(MemoryBroker::default()));
        let store = caudal_store::open("memory:").unwrap();
        let gateway = |name: &str| {
            let settings = Settings::new(name, "127.0.0.1:0".parse().unwrap());
            Arc::new(Gateway::new(settings, broker.clone(), Arc::clone(&store)))
        };
        let (one, two) = (gateway("one"), gateway("two"));
        let query = QuerySpec { name: "q".into(), sql: "SELECT 1".into(), params: vec![] };
        let (nonce, owner) = ("0".repeat(32), Owner::of_token(""));
        let request = OpenRequest { nonce, tables: vec![], queries: vec![query], shards: None };
        let session = one.open(&owner, request).await.unwrap().session;
        two.find(&owner, &session).await.unwrap();
        let mut janitor = Janitor::new(Arc::clone(&two));
        janitor.look().await.unwrap();
        assert_eq!(two.sessions.ids(), std::slice::from_ref(&session));
        assert_eq!(janitor.clients.len(), 1);

        one.close(&owner, &session).await.unwrap();
        assert!(one.sessions.ids().is_empty());
        janitor.look().await.unwrap();
        assert!(two.sessions.ids().is_empty());
        assert_eq!(janitor.clients.len(), 0);
    }
}
