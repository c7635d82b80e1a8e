//! A journal that takes long to load: the baton that made a worker the owner is followed by others.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_broker::Broker;
use caudal_core::{ShardId, limits};
use caudal_protocol::{Message, Queues};
use caudal_runtime::{simulated, time};
use caudal_store::{Created, Store, StoreError};
use futures::FutureExt;

use crate::timeouts::{cluster, numbers};

const RENEW: Duration = Duration::from_secs(limits::BATON_RENEW_SECONDS);

/// Whatever is read of a shard takes hours.
struct Slow(Arc<dyn Store>);

impl Slow {
    async fn dawdle(&self, name: &str) {
        if name.contains("/shards/") {
            time::sleep(100 * RENEW).await;
        }
    }
}

#[async_trait]
impl Store for Slow {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        self.0.create(name, body).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.0.put(name, body).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.dawdle(name).await;
        self.0.get(name).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.dawdle(folder).await;
        self.0.list(folder).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.0.folders(folder).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.0.delete(name).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.0.delete_folder(folder).await
    }
}

#[test]
fn batons_follow_while_a_journal_is_loaded() {
    let _started = simulated::start(0);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().on_thread_park(|| {
        simulated::advance();
    });
    let runtime = runtime.build().unwrap();
    runtime.block_on(async {
        let store = caudal_store::open("memory:").unwrap();
        let cluster = cluster("long-load", &[numbers()], store).await;
        let _session = cluster.open().await;
        let slow = Arc::new(Slow(Arc::clone(&cluster.store)));
        let loading = cluster.start_on(0, slow);
        let waiting = async {
            time::sleep(3 * RENEW + RENEW / 2).await;
        };
        tokio::select! {
            () = waiting => {}
            () = simulated::stay_awake() => unreachable!("it never ends"),
        }
        drop(loading);
        tokio::task::yield_now().await;
        let queue = Queues { session: cluster.id.clone() }.shard(ShardId(0));
        let mut consumer = cluster.broker.consume(&queue, 100).await.unwrap();
        let mut batons = 0;
        while let Some(Ok(Some(delivery))) = consumer.next().now_or_never() {
            assert!(matches!(*delivery.message, Message::Baton));
            batons += 1;
        }
        assert_eq!(batons, 1 + 3, "its own, and those that followed");
    });
}
