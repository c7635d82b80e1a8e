//! Ends a session: a tombstone first, then everything that it says is to go.
//!
//! Every step can be done again, by anybody: a gateway that dies in the middle leaves the rest to the
//! janitors.

use std::time::Duration;

use caudal_broker::SessionEvent;
use caudal_core::{Failure, SessionId, limits};
use caudal_protocol::Queues;
use caudal_protocol::manifest::Tombstone;
use caudal_runtime::failpoint::hit;
use caudal_runtime::time::{timeout, wall_ms};
use caudal_store::{Created, Standing, slots};
use tracing::{info, warn};

use crate::tokens::Owner;
use crate::{Error, Gateway};

impl Gateway {
    /// The client is done with its session. Closing what is closed is fine.
    pub async fn close(&self, owner: &Owner, session: &SessionId) -> Result<(), Error> {
        self.end(owner, session, None).await
    }

    /// Ends the session with a failure: all who still wait for it learn that it was cancelled.
    pub async fn cancel(&self, owner: &Owner, session: &SessionId) -> Result<(), Error> {
        self.end(owner, session, Some(&Error::Cancelled)).await
    }

    async fn end(
        &self,
        owner: &Owner,
        session: &SessionId,
        why: Option<&Error>,
    ) -> Result<(), Error> {
        let records = self.records(session)?;
        let none = || Error::NoSession { session: session.clone() };
        let tombstone = match records.standing().await?.ok_or_else(none)? {
            Standing::Over(tombstone) => tombstone,
            Standing::Open(manifest) => Tombstone::of(&manifest, why.map(Failure::of), wall_ms()),
        };
        if !owner.is(&tombstone.owner) {
            return Err(none());
        }
        self.end_session(tombstone).await.map(|_| ())
    }

    /// Ends a session with what its tombstone says, unless it has ended with something else already:
    /// the first one counts, and is returned.
    pub(crate) async fn end_session(&self, tombstone: Tombstone) -> Result<Tombstone, Error> {
        let records = self.records_of(&tombstone.session);
        let tombstone = match records.create_tombstone(&tombstone).await? {
            Created::New => tombstone,
            Created::Exists => records.tombstone().await?.unwrap_or(tombstone),
        };
        hit("close.tombstone");
        let failure = tombstone.failure.as_ref().map(|failure| failure.message.as_str());
        info!(session = %tombstone.session, failure, "session ended");
        // It is over from here on. What cannot be removed soon is removed by a janitor.
        let most = Duration::from_millis(limits::LEAVE_MS);
        match timeout(most, self.clean_up(&tombstone)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                warn!(session = %tombstone.session, %error, "clean-up left to the janitors")
            }
            Err(_) => {
                warn!(session = %tombstone.session, "clean-up left to the janitors: timed out")
            }
        }
        Ok(tombstone)
    }

    /// Removes whatever is left of a session that is over, except its tombstone.
    pub(crate) async fn clean_up(&self, tombstone: &Tombstone) -> Result<(), Error> {
        let Tombstone { session, shards, queries, .. } = tombstone;
        self.sessions.forget(session);
        self.broker.announce(SessionEvent::Closed(session.clone())).await?;
        for queue in (Queues { session: session.clone() }).all(*shards, *queries) {
            self.broker.delete(&queue).await?;
        }
        hit("close.queues");
        // After the queues: as long as the folder is there, a janitor sees that something is left.
        self.records_of(session).delete().await?;
        hit("close.folder");
        slots::release(self.store.as_ref(), session).await?;
        hit("close.slot");
        Ok(())
    }
}
