//! A store in which only creating is not as always: what makes journals right or wrong.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_store::{Created, Store, StoreError};

/// Way to create an object in the store that it is given.
#[async_trait]
pub trait Creating: Send + Sync + 'static {
    async fn create(
        &self,
        store: &dyn Store,
        name: &str,
        body: Bytes,
    ) -> Result<Created, StoreError>;
}

pub fn around(store: &Arc<dyn Store>, creating: Arc<dyn Creating>) -> Arc<dyn Store> {
    Arc::new(Around { store: Arc::clone(store), creating })
}

struct Around {
    store: Arc<dyn Store>,
    creating: Arc<dyn Creating>,
}

#[async_trait]
impl Store for Around {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        self.creating.create(self.store.as_ref(), name, body).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.store.put(name, body).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.store.get(name).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.store.list(folder).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.store.folders(folder).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.store.delete(name).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.store.delete_folder(folder).await
    }
}
