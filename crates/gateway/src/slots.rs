//! The places of a cluster: as many as it may have sessions, each taken by creating its object.
//!
//! The bound is kept, not proven: a gateway that was frozen while others closed its session may free a
//! place that has just been taken again. What follows is one session too many for a while.

use caudal_core::SessionId;
use caudal_protocol::Objects;
use caudal_protocol::objects::{SLOTS, slot};
use caudal_store::{Created, Store};
use futures::future::try_join_all;

use crate::Error;

/// A taken place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Of its object.
    pub name: String,
    pub session: SessionId,
}

/// Gives the session a place, or finds the one that it has.
pub async fn take(store: &dyn Store, objects: &Objects, sessions_max: usize) -> Result<(), Error> {
    let taken = taken(store).await?;
    if taken.iter().any(|slot| slot.session == objects.session) {
        return Ok(());
    }
    for name in (0..sessions_max).map(slot) {
        let is_free = taken.iter().all(|slot| slot.name != name);
        let body = objects.session.0.clone().into();
        if is_free && store.create(&name, body).await? == Created::New {
            return Ok(());
        }
    }
    Err(Error::TooManySessions { sessions_max })
}

/// Frees whatever places the session has.
pub async fn release(store: &dyn Store, session: &SessionId) -> Result<(), Error> {
    for slot in taken(store).await? {
        if slot.session == *session {
            store.delete(&slot.name).await?;
        }
    }
    Ok(())
}

pub async fn taken(store: &dyn Store) -> Result<Vec<Slot>, Error> {
    let names = store.list(SLOTS).await?;
    let slots = try_join_all(names.into_iter().map(|name| async {
        let body = store.get(&name).await?;
        Ok::<_, Error>(body.map(|body| {
            let session = SessionId(String::from_utf8_lossy(&body).into_owned());
            Slot { name, session }
        }))
    }));
    Ok(slots.await?.into_iter().flatten().collect())
}
