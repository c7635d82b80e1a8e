//! The store as a node reaches it: slow, failing, and not always telling the truth about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::{codes, limits};
use caudal_protocol::manifest::Tombstone;
use caudal_runtime::time::sleep;
use caudal_store::{Created, Store, StoreError};
use tokio::sync::oneshot;

use crate::faults::Fault;
use crate::link::Link;
use crate::world::lock;

pub type Objects = BTreeMap<String, Bytes>;

#[derive(Clone)]
pub struct SimStore(pub Arc<Link>);

/// The outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Done,
    NotDone,
    AnswerLost,
    DoneTwice,
    Late,
}

impl SimStore {
    async fn call<T: Send + 'static>(
        &self,
        action: &'static str,
        name: &str,
        work: impl Fn(&mut Objects) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed = |reason: &str| {
            self.0.count_store_failure();
            let (name, reason) = (name.to_string(), reason.to_string());
            Err(StoreError::Failed { action, name, reason })
        };
        if let Some(cut) = self.0.store_cut() {
            let timeout = Duration::from_millis(fastrand::u64(1..limits::STORE_RETRY_MS_MAX));
            sleep(cut.min(timeout)).await;
            if cut > timeout {
                return failed("it cannot be reached");
            }
        }
        let writes = matches!(action, "create" | "write" | "delete");
        if let Some(hung) = self.0.store_hung() {
            let deadline = Duration::from_millis(limits::STORE_CALL_MS_MAX);
            sleep(hung.min(deadline)).await;
            if hung > deadline {
                return failed("no answer");
            }
        }
        if writes && self.0.is_store_read_only() {
            self.0.world.travel().await;
            return failed("nothing can be written");
        }
        if writes && action != "delete" && self.0.world.is_store_full() {
            self.0.world.travel().await;
            self.0.count_store_failure();
            return Err(StoreError::Full { name: name.to_string() });
        }
        let fate = self.fate(action);
        let (link, object) = (Arc::clone(&self.0), name.to_string());
        let (sender, receiver) = oneshot::channel();
        // What has left a node arrives, whatever becomes of the node.
        self.0.world.scope.spawn(async move {
            let world = Arc::clone(&link.world);
            world.travel().await;
            if world.happens(Fault::StoreSlow, 0.05) {
                let slow = Duration::from_millis(fastrand::u64(100..6000));
                sleep(slow).await;
                let mut facts = lock(&world.facts);
                facts.slowest_call = facts.slowest_call.max(slow);
            }
            if fate == Fate::Late {
                drop(sender);
                sleep(Duration::from_millis(fastrand::u64(100..30_000))).await;
                world.say(&link.name, format_args!("late: {action} {object}"));
                work(&mut lock(&world.objects));
                return;
            }
            let told = match fate {
                Fate::Done | Fate::DoneTwice => "",
                Fate::NotDone => ": fails",
                Fate::AnswerLost | Fate::Late => ": its answer is lost",
            };
            world.say(&link.name, format_args!("{action} {object}{told}"));
            if fate == Fate::NotDone {
                return;
            }
            let mut answer = work(&mut lock(&world.objects));
            if fate == Fate::DoneTwice {
                answer = work(&mut lock(&world.objects));
            }
            world.travel().await;
            if fate != Fate::AnswerLost {
                let _ = sender.send(answer);
            }
        });
        match receiver.await {
            Ok(answer) => Ok(answer),
            Err(_) => failed("as the simulation wants it"),
        }
    }

    /// A record's number is never freed while its session lives.
    fn look_at_delete(&self, name: &str) {
        let session = name.split('/').nth(1).unwrap_or_default();
        let is_over = lock(&self.0.world.objects).contains_key(&format!("closed/{session}"));
        if name.contains("/log/") && !is_over {
            let violation = format!("{} frees the number of {name}", self.0.name);
            lock(&self.0.world.violations).push(violation);
        }
    }

    fn fate(&self, action: &str) -> Fate {
        let world = &self.0.world;
        let writes = matches!(action, "create" | "write" | "delete");
        if world.happens(Fault::StoreFail, 0.01) {
            Fate::NotDone
        } else if writes && world.happens(Fault::StoreLostAck, 0.02) {
            Fate::AnswerLost
        } else if action == "create" && world.happens(Fault::StoreAgain, 0.1) {
            Fate::DoneTwice
        } else if matches!(action, "create" | "write") && world.happens(Fault::StoreLate, 0.02) {
            Fate::Late
        } else {
            Fate::Done
        }
    }
}

#[async_trait]
impl Store for SimStore {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        let object = name.to_string();
        let link = Arc::clone(&self.0);
        let create = move |objects: &mut Objects| {
            if objects.contains_key(&object) {
                return Created::Exists;
            }
            link.look_at_create(objects, &object, &body);
            objects.insert(object.clone(), body.clone());
            Created::New
        };
        self.call("create", name, create).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        let object = name.to_string();
        let put = move |objects: &mut Objects| drop(objects.insert(object.clone(), body.clone()));
        self.call("write", name, put).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        let object = name.to_string();
        self.call("read", name, move |objects| objects.get(&object).cloned()).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{folder}/");
        self.call("list", folder, move |objects| below(objects, &prefix)).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{folder}/");
        let folders = move |objects: &mut Objects| {
            let names = below(objects, &prefix);
            let folders: BTreeSet<&str> = names
                .iter()
                .filter_map(|name| name.strip_prefix(&prefix)?.split_once('/'))
                .map(|(folder, _)| folder)
                .collect();
            folders.into_iter().map(str::to_string).collect()
        };
        self.call("list", folder, folders).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let object = name.to_string();
        self.look_at_delete(name);
        self.call("delete", name, move |objects| drop(objects.remove(&object))).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        let prefix = format!("{folder}/");
        let world = Arc::clone(&self.0.world);
        let delete = move |objects: &mut Objects| {
            let names = below(objects, &prefix);
            let is_torn = names.len() > 1 && world.happens(Fault::StoreTorn, 0.3);
            let end = if is_torn { fastrand::usize(1..names.len()) } else { names.len() };
            names[..end].iter().for_each(|name| drop(objects.remove(name)));
            is_torn
        };
        match self.call("delete", folder, delete).await? {
            false => Ok(()),
            true => Err(StoreError::Failed {
                action: "delete",
                name: folder.to_string(),
                reason: "only a part of it is gone".to_string(),
            }),
        }
    }
}

impl Link {
    /// How often it lost its connection, or could not remove a marker for want of the store.
    fn troubles(&self) -> u64 {
        let is_away = [self.store_cut(), self.store_hung()].iter().any(Option::is_some);
        self.lost.get() + u64::from(is_away || self.is_store_read_only())
    }

    /// Whose markers there are, and whether a session that ends because of them is right to.
    fn look_at_create(self: &Arc<Self>, objects: &Objects, name: &str, body: &Bytes) {
        if name.contains("/marks/") {
            let marker = (Arc::downgrade(self), self.troubles());
            lock(&self.world.markers).insert(name.to_string(), marker);
        }
        let Some(session) = name.strip_prefix("closed/") else { return };
        let tombstone: Option<Tombstone> = serde_json::from_slice(body).ok();
        let failure = tombstone.and_then(|tombstone| tombstone.failure);
        let code = failure.map(|failure| failure.code);
        if code == Some(codes::SESSION_TOO_LONG) {
            self.world.count(Fault::SessionLimit);
        }
        if code == Some(codes::POISON_FRAGMENT) {
            let names = below(objects, &format!("sessions/{session}/marks/"));
            let markers = lock(&self.world.markers);
            let mut deaths: BTreeMap<&str, u32> = BTreeMap::new();
            for (marker, (fragment, _)) in
                names.iter().filter_map(|name| Some((name, name.rsplit_once('/')?)))
            {
                let is_death = markers.get(marker).is_some_and(|(link, troubles)| {
                    link.upgrade().is_none_or(|link| {
                        let is_well = link.scope.is_alive() && !link.scope.is_frozen();
                        !is_well || link.troubles() > *troubles
                    })
                });
                *deaths.entry(fragment).or_default() += u32::from(is_death);
            }
            if deaths.values().any(|deaths| *deaths >= limits::FRAGMENT_DEATHS_MAX) {
                lock(&self.world.facts).poisoned.insert(session.to_string());
            }
        }
    }
}

fn below(objects: &Objects, prefix: &str) -> Vec<String> {
    let from = objects.range(prefix.to_string()..);
    from.map(|(name, _)| name).take_while(|name| name.starts_with(prefix)).cloned().collect()
}
