//! A store that takes its time: whoever is killed is likely to be killed while it writes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_store::{Created, Store, StoreError};

pub struct SlowStore(pub Arc<dyn Store>);

/// Before and after what is done: an answer may be lost on its way.
async fn dawdle() {
    tokio::time::sleep(Duration::from_micros(fastrand::u64(0..1500))).await;
}

#[async_trait]
impl Store for SlowStore {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        dawdle().await;
        let created = self.0.create(name, body).await;
        dawdle().await;
        created
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        dawdle().await;
        self.0.put(name, body).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.0.get(name).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.0.list(folder).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.0.folders(folder).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        dawdle().await;
        self.0.delete(name).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.0.delete_folder(folder).await
    }
}
