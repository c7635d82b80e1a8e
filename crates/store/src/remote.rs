//! A store in an object store: S3 and what speaks like it.
//!
//! S3 decides a create by `If-None-Match: *`. What it has answered is durable and seen by all.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::limits;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode};

use crate::store::{Created, Store, StoreError, check_name};

pub struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl Remote {
    /// The objects below `prefix`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: Path) -> Self {
        Self { store, prefix }
    }

    fn path(&self, name: &str) -> Result<Path, StoreError> {
        check_name(name)?;
        let full = match self.prefix.as_ref() {
            "" => name.to_string(),
            prefix => format!("{prefix}/{name}"),
        };
        Path::parse(full).map_err(|_| StoreError::BadName { name: name.to_string() })
    }

    /// The name that an object's path means here.
    fn name(&self, path: &Path) -> String {
        let prefix = self.prefix.as_ref();
        let name = path.as_ref().strip_prefix(prefix).unwrap_or(path.as_ref());
        name.trim_start_matches('/').to_string()
    }
}

/// One call to the object store, for as long as it may take.
#[allow(clippy::disallowed_methods, reason = "the network: a simulation has a store of its own")]
async fn call<T>(
    action: &'static str,
    name: &str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, StoreError> {
    let failed = |reason| StoreError::Failed { action, name: name.to_string(), reason };
    let call_max = Duration::from_millis(limits::STORE_CALL_MS_MAX);
    match tokio::time::timeout(call_max, work).await {
        Ok(result) => result.map_err(|error| failed(error.to_string())),
        Err(_) => Err(failed(format!("no answer within {} s", call_max.as_secs()))),
    }
}

#[async_trait]
impl Store for Remote {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        call("create", name, self.create_seen(&self.path(name)?, body)).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        call("write", name, self.store.put(&self.path(name)?, body.into())).await?;
        Ok(())
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        let path = self.path(name)?;
        call("read", name, async {
            match self.store.get(&path).await {
                Ok(found) => found.bytes().await.map(Some),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let found = self.store.list(Some(&self.path(folder)?));
        let names = found.map_ok(|found| self.name(&found.location)).try_collect();
        let mut names: Vec<String> = call("list", folder, names).await?;
        names.sort_unstable();
        Ok(names)
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let path = self.path(folder)?;
        let found = call("list", folder, self.store.list_with_delimiter(Some(&path))).await?;
        let paths = found.common_prefixes.iter();
        let mut names: Vec<String> = paths.filter_map(Path::filename).map(str::to_string).collect();
        names.sort_unstable();
        Ok(names)
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name)?;
        call("delete", name, async {
            match self.store.delete(&path).await {
                Err(Error::NotFound { .. }) => Ok(()),
                deleted => deleted,
            }
        })
        .await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        let found = self.store.list(Some(&self.path(folder)?));
        let deleted = self.store.delete_stream(found.map_ok(|found| found.location).boxed());
        call("delete", folder, deleted.try_for_each(async |_| Ok(()))).await
    }
}

impl Remote {
    /// S3 refuses a create also while another is under way, which may fail yet. That there is an
    /// object is told only when it is seen.
    async fn create_seen(&self, path: &Path, body: Bytes) -> Result<Created, Error> {
        for _ in 0..limits::STORE_CREATE_TRIES_MAX {
            match self.store.put_opts(path, body.clone().into(), PutMode::Create.into()).await {
                Err(Error::AlreadyExists { .. }) => {}
                put => return put.map(|_| Created::New),
            }
            match self.store.head(path).await {
                Err(Error::NotFound { .. }) => {}
                seen => return seen.map(|_| Created::Exists),
            }
        }
        let source = "it is said to exist, and is not seen".into();
        Err(Error::Generic { store: "create", source })
    }
}
