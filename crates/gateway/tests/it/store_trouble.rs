//! A store that one gateway cannot reach, and one that is full to the last byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use caudal_protocol::calls::Status;
use caudal_store::{Created, Store, StoreError};
use tonic::Code;

use crate::support::{Cluster, code, numbers_request};

const GRACE: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Mood {
    Well,
    /// As when its network is gone.
    Fails,
    /// As a mount whose server is gone.
    Hangs,
    /// Can be read, and what is in it removed.
    Full,
}

/// A way to a store.
struct Moody {
    store: Arc<dyn Store>,
    mood: AtomicU8,
}

impl Moody {
    fn new(cluster: &Cluster) -> Arc<Self> {
        Arc::new(Self { store: Arc::clone(&cluster.store), mood: AtomicU8::new(0) })
    }

    fn be(&self, mood: Mood) {
        self.mood.store(mood as u8, Ordering::SeqCst);
    }

    fn is(&self, mood: Mood) -> bool {
        self.mood.load(Ordering::SeqCst) == mood as u8
    }

    async fn check(&self, name: &str, writes: bool) -> Result<(), StoreError> {
        let name = name.to_string();
        if self.is(Mood::Hangs) {
            std::future::pending::<()>().await;
        }
        if self.is(Mood::Fails) {
            let reason = "no route to host".to_string();
            return Err(StoreError::Failed { action: "reach", name, reason });
        }
        if self.is(Mood::Full) && writes {
            return Err(StoreError::Full { name });
        }
        Ok(())
    }
}

#[async_trait]
impl Store for Moody {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        self.check(name, true).await?;
        self.store.create(name, body).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.check(name, true).await?;
        self.store.put(name, body).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.check(name, false).await?;
        self.store.get(name).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.check(folder, false).await?;
        self.store.list(folder).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.check(folder, false).await?;
        self.store.folders(folder).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.check(name, false).await?;
        self.store.delete(name).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.check(folder, false).await?;
        self.store.delete_folder(folder).await
    }
}

/// A gateway that has another way to the store.
fn reached_by(cluster: &Cluster, store: &Arc<Moody>) -> Cluster {
    Cluster { broker: Arc::clone(&cluster.broker), store: Arc::clone(store) as _ }
}

#[tokio::test]
async fn a_gateway_without_its_store_lets_its_client_go_before_others_bury_the_session() {
    for mood in [Mood::Fails, Mood::Hangs] {
        let cluster = Cluster::new();
        let store = Moody::new(&cluster);
        let cut_off = reached_by(&cluster, &store).gateway_with(|it| it.grace = GRACE).await;
        let other = cluster.gateway_with(|it| it.grace = GRACE).await;
        let client = cut_off.client().await;
        let session = client.open(&numbers_request(1)).await.unwrap().session;
        let attached = client.attach(&session).await.unwrap();
        store.be(mood);
        let since = Instant::now();
        let end = attached.end().await;
        let (took, code) = (since.elapsed(), code(&end).to_string());
        assert_eq!((end.code(), code.as_str()), (Code::Unavailable, "CDL-7002"), "{end:?}");
        assert!(took < GRACE * 9 / 10, "{mood:?}: {took:?} of the grace period");
        // The other gateway has the client before its own janitor takes it for gone, and keeps it.
        let mut attached = other.client().await.attach(&session).await.unwrap();
        let until = Instant::now() + GRACE + Duration::from_secs(2);
        let _: Status = attached.next_as().await.unwrap();
        while Instant::now() < until {
            let next = tokio::time::timeout(Duration::from_secs(1), attached.next_as::<Status>());
            if let Ok(status) = next.await {
                assert_eq!(status.unwrap().failure, None);
            }
        }
    }
}

#[tokio::test]
async fn a_store_that_was_full_to_the_last_byte_ends_its_sessions_once_there_is_room() {
    let cluster = Cluster::new();
    let store = Moody::new(&cluster);
    let gateway = reached_by(&cluster, &store).gateway_with(|it| it.grace = GRACE / 4).await;
    let client = gateway.client().await;
    let told = client.open(&numbers_request(1)).await.unwrap().session;
    let gone = client.open(&numbers_request(2)).await.unwrap().session;
    let attached = client.attach(&told).await.unwrap();
    let attached_and_gone = client.attach(&gone).await.unwrap();
    store.be(Mood::Full);
    drop(attached_and_gone);
    // One client is told, one is gone, nothing new is taken, and nobody can write how it ended.
    assert_eq!(code(&attached.end().await), "CDL-7001");
    assert_eq!(code(&client.open(&numbers_request(3)).await.unwrap_err()), "CDL-7001");
    tokio::time::sleep(GRACE).await;
    let sessions = cluster.store.folders("sessions").await.unwrap();
    assert_eq!(sessions.len(), 2, "they are still there: {sessions:?}");
    assert!(cluster.store.list("closed").await.unwrap().is_empty());

    store.be(Mood::Well);
    cluster.wait_until_nothing_is_left().await;
    for session in [told, gone] {
        assert_eq!(code(&client.attach(&session).await.err().unwrap()), "CDL-8012");
    }
}
