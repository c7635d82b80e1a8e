//! The slots of a cluster: as many as it may have sessions, each taken by creating its object.
//!
//! The bound is kept, not proven: a gateway that was frozen while others closed its session may free a
//! slot that has just been taken again. What follows is one session too many for a while.
//!
//! Owners of sessions share them by a dynamic threshold: nobody takes a slot who has as many as are free. One alone has half of
//! all, two have three quarters, and whoever has none finds one as long as there is any.

use bytes::Bytes;
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
    /// None where nobody is told apart.
    owner: Option<String>,
}

/// What came of asking for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The session has one.
    Taken,
    /// All are taken.
    NoneFree,
    /// The owner has its share: so many.
    ShareTaken(usize),
}

/// Gives the session a slot, or finds the one that it has.
pub async fn take(
    store: &dyn Store,
    session: &SessionId,
    owner: Option<&str>,
    sessions_max: usize,
) -> Result<Take, StoreError> {
    let before = taken(store).await?;
    if before.iter().any(|slot| slot.session == *session) {
        return Ok(Take::Taken);
    }
    if let Some(refused) = over_share(&before, owner, sessions_max) {
        return Ok(refused);
    }
    let body = Bytes::from([&session.0, owner.unwrap_or_default()].join("\n"));
    for name in (0..sessions_max).map(slot) {
        let is_free = before.iter().all(|slot| slot.name != name);
        if is_free && store.create(&name, body.clone()).await? == Created::New {
            // Others of the owner may have come at the same time: whoever took a slot later sees those before it.
            let mut others = taken(store).await?;
            others.retain(|slot| slot.name < name);
            let Some(refused) = over_share(&others, owner, sessions_max) else {
                return Ok(Take::Taken);
            };
            store.delete(&name).await?;
            return Ok(refused);
        }
    }
    Ok(Take::NoneFree)
}

/// Why the owner may not take one slot more than these, if it may not.
fn over_share(taken: &[Slot], owner: Option<&str>, sessions_max: usize) -> Option<Take> {
    let free = sessions_max.saturating_sub(taken.len());
    let has = taken.iter().filter(|slot| owner.is_some() && slot.owner.as_deref() == owner);
    match (has.count(), free) {
        (_, 0) => Some(Take::NoneFree),
        (has, free) if has >= free => Some(Take::ShareTaken(has)),
        _ => None,
    }
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
            let text = String::from_utf8_lossy(&body);
            let (session, owner) = text.split_once('\n').unwrap_or((&text, ""));
            let owner = (!owner.is_empty()).then(|| owner.to_string());
            Slot { name, session: SessionId(session.to_string()), owner }
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

    fn id(id: &str) -> SessionId {
        SessionId(id.to_string())
    }

    #[tokio::test]
    async fn a_session_has_one_slot_and_gives_it_back() {
        let store = crate::open("memory:").unwrap();
        let store = store.as_ref();
        let take = async |session: &str| take(store, &id(session), None, 2).await.unwrap();
        assert_eq!(take("a").await, Take::Taken);
        assert_eq!(take("a").await, Take::Taken, "the one that it has");
        assert_eq!(take("b").await, Take::Taken);
        assert_eq!(take("c").await, Take::NoneFree);
        assert_eq!(taken(store).await.unwrap().len(), 2);
        release(store, &id("a")).await.unwrap();
        assert_eq!(take("c").await, Take::Taken);
    }

    #[tokio::test]
    async fn who_has_none_finds_one_whatever_the_others_take() {
        let store = crate::open("memory:").unwrap();
        let store = store.as_ref();
        let mut had = vec![];
        for owner in ["one", "two", "three", "four", "five"] {
            let mut has = 0;
            loop {
                let session = id(&format!("{owner}-{has}"));
                match take(store, &session, Some(owner), 8).await.unwrap() {
                    Take::Taken => has += 1,
                    Take::ShareTaken(told) => break assert_eq!(told, has),
                    Take::NoneFree => break,
                }
            }
            had.push(has);
        }
        assert_eq!(had, [4, 2, 1, 1, 0], "all eight are taken, by four");
        release(store, &id("one-0")).await.unwrap();
        let greedy = take(store, &id("one-4"), Some("one"), 8).await.unwrap();
        assert_eq!(greedy, Take::ShareTaken(3), "others come first");
        assert_eq!(take(store, &id("five-0"), Some("five"), 8).await.unwrap(), Take::Taken);
    }

    #[tokio::test]
    async fn who_asks_for_many_at_once_gets_no_more_than_who_asks_for_one_after_the_other() {
        let store = crate::open("memory:").unwrap();
        let store = store.as_ref();
        let sessions: Vec<_> = (0..40).map(|number| id(&format!("s{number}"))).collect();
        let takes = sessions.iter().map(|session| take(store, session, Some("one"), 8));
        let takes = try_join_all(takes).await.unwrap();
        assert_eq!(takes.iter().filter(|take| **take == Take::Taken).count(), 4);
        assert_eq!(taken(store).await.unwrap().len(), 4, "what was too much is given back");
    }
}
