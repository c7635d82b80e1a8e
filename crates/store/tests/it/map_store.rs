//! A store in memory that does all at once, and whose fence can be switched off.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use caudal_store::{Created, Store, StoreError};

pub struct MapStore {
    objects: Mutex<BTreeMap<String, Bytes>>,
    has_fence: bool,
}

impl MapStore {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { objects: Mutex::default(), has_fence: true })
    }

    /// A create overwrites what is there, and says that it was new.
    pub fn without_fence() -> Arc<Self> {
        Arc::new(Self { objects: Mutex::default(), has_fence: false })
    }

    pub fn objects(&self) -> BTreeMap<String, Bytes> {
        self.objects.lock().unwrap().clone()
    }

    pub fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Bytes>)) {
        change(&mut self.objects.lock().unwrap());
    }
}

#[async_trait]
impl Store for MapStore {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        let mut objects = self.objects.lock().unwrap();
        if self.has_fence && objects.contains_key(name) {
            return Ok(Created::Exists);
        }
        objects.insert(name.to_string(), body);
        Ok(Created::New)
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.objects.lock().unwrap().insert(name.to_string(), body);
        Ok(())
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        Ok(self.objects.lock().unwrap().get(name).cloned())
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let folder = format!("{folder}/");
        let objects = self.objects.lock().unwrap();
        Ok(objects.keys().filter(|name| name.starts_with(&folder)).cloned().collect())
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{folder}/");
        let names = self.list(folder).await?;
        let folders: BTreeSet<&str> = names
            .iter()
            .filter_map(|name| name.strip_prefix(&prefix)?.split_once('/'))
            .map(|(folder, _)| folder)
            .collect();
        Ok(folders.into_iter().map(str::to_string).collect())
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.objects.lock().unwrap().remove(name);
        Ok(())
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        let folder = format!("{folder}/");
        self.objects.lock().unwrap().retain(|name, _| !name.starts_with(&folder));
        Ok(())
    }
}
