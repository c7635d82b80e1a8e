//! The end of a whole cluster: its sessions end with it. Whoever stops it calls this, beside its gateways or after them.

use std::sync::Arc;
use std::time::Duration;

use caudal_core::{Failure, SessionId, limits};
use caudal_protocol::manifest::{Manifest, Tombstone};
use caudal_runtime::time::{now, since, sleep, wall_ms};
use caudal_store::{SessionRecords, Store, sessions, slots};

use crate::Error;

/// Ends the sessions that are open, or those of them whose clients these gateways have. Which ones are over now, and perhaps
/// not yet removed.
pub async fn end_sessions(
    store: &Arc<dyn Store>,
    gateways: Option<&[String]>,
) -> Result<Vec<SessionId>, Error> {
    let mut ended = vec![];
    for session in sessions(store.as_ref()).await? {
        let records = SessionRecords::new(Arc::clone(store), session.clone());
        if let Some(manifest) = theirs(&records, gateways).await? {
            let why = Failure::of(&Error::Stopped);
            let tombstone = Tombstone::of(&manifest, Some(why), wall_ms());
            records.create_tombstone(&tombstone).await?;
            ended.push(session);
        }
    }
    Ok(ended)
}

async fn theirs(
    records: &SessionRecords,
    gateways: Option<&[String]>,
) -> Result<Option<Manifest>, Error> {
    if let Some(gateways) = gateways {
        let lease = records.latest_lease().await?.and_then(|lease| lease.record);
        if !lease.is_some_and(|lease| gateways.contains(&lease.gateway)) {
            return Ok(None);
        }
    }
    Ok(records.manifest().await?)
}

/// Gives gateways that still run the time to tell their clients, and to remove what is left.
pub async fn wait_for_gateways(store: &Arc<dyn Store>, ended: &[SessionId]) -> Result<(), Error> {
    let (told, most) = (limits::LEASE_RENEW_MS * 3 / 2, limits::LEAVE_MS);
    let started = now();
    sleep(Duration::from_millis(told)).await;
    while since(started) < Duration::from_millis(most) {
        let left = sessions(store.as_ref()).await?;
        if !left.iter().any(|session| ended.contains(session)) {
            break;
        }
        sleep(Duration::from_millis(limits::JANITOR_TICK_MS / 10)).await;
    }
    Ok(())
}

/// Removes what is left of sessions when nobody serves them any more. Their queues go with the broker, or for being unused.
pub async fn remove_ended(store: &Arc<dyn Store>, ended: &[SessionId]) -> Result<(), Error> {
    for session in ended {
        SessionRecords::new(Arc::clone(store), session.clone()).delete().await?;
        slots::release(store.as_ref(), session).await?;
    }
    Ok(())
}
