//! The slots of a cluster: as many as it may have sessions, each taken by creating its object.
//!
//! The bound is kept, not proven: a gateway that was frozen while others closed its session may free a
//! slot that has just been taken again. What follows is one session too many for a while.

use caudal_core::SessionId;
use caudal_protocol::objects::{SLOTS, slot};
use futures::future::try_join_all;

use crate::store::{Created, Store, StoreError};

/// A taken slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Of its object.
    pub name: String,
    pub session: SessionId,
}

/// Gives the session a slot, or finds the one that it has. Whether it has one: not where all are taken.
pub async fn take(
    store: &dyn Store,
    session: &SessionId,
    sessions_max: usize,
) -> Result<bool, StoreError> {
    let taken = taken(store).await?;
    if taken.iter().any(|slot| slot.session == *session) {
        return Ok(true);
    }
    for name in (0..sessions_max).map(slot) {
        let is_free = taken.iter().all(|slot| slot.name != name);
        if is_free && store.create(&name, session.0.clone().into()).await? == Created::New {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Frees whatever slots the session has.
pub async fn release(store: &dyn Store, session: &SessionId) -> Result<(), StoreError> {
    for slot in taken(store).await? {
        if slot.session == *session {
            slot.free(store).await?;
        }
    }
    Ok(())
}

pub async fn taken(store: &dyn Store) -> Result<Vec<Slot>, StoreError> {
    let names = store.list(SLOTS).await?;
    let slots = try_join_all(names.into_iter().map(|name| async {
        let body = store.get(&name).await?;
        Ok::<_, StoreError>(body.map(|body| {
            let session = SessionId(String::from_utf8_lossy(&body).into_owned());
            Slot { name, session }
        }))
    }));
    Ok(slots.await?.into_iter().flatten().collect())
}

impl Slot {
    pub async fn free(&self, store: &dyn Store) -> Result<(), StoreError> {
        store.delete(&self.name).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_has_one_slot_and_gives_it_back() {
        let store = crate::open("memory:").unwrap();
        let (store, id) = (store.as_ref(), |id: &str| SessionId(id.to_string()));
        assert!(take(store, &id("a"), 2).await.unwrap());
        assert!(take(store, &id("a"), 2).await.unwrap(), "the one that it has");
        assert!(take(store, &id("b"), 2).await.unwrap());
        assert!(!take(store, &id("c"), 2).await.unwrap(), "all are taken");
        assert_eq!(taken(store).await.unwrap().len(), 2);
        release(store, &id("a")).await.unwrap();
        assert!(take(store, &id("c"), 2).await.unwrap());
    }
}
