//! Where durable objects live: a directory, or an object store.
//!
//! A name is a path of segments separated by `/`. What a method has returned from is durable.

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::{Code, Coded};
use thiserror::Error;

#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Writes an object unless there is one of that name. Whether it was written: where an answer
    /// was lost on the way, `Exists` may mean that we did it ourselves.
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError>;

    /// Writes an object, in the place of another if there is one. A reader sees the old or the new.
    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError>;

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError>;

    /// The names of all objects below a folder, in order.
    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// The names (last segments) of the folders directly in a folder.
    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// Removes an object. One that is not there is fine.
    async fn delete(&self, name: &str) -> Result<(), StoreError>;

    /// Removes a folder and all below it. One that is not there is fine.
    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    New,
    Exists,
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("no room left to write {name}")]
    Full { name: String },
    #[error("cannot {action} {name}: {reason}")]
    Failed { action: &'static str, name: String, reason: String },
    #[error("{url} is not a store: {reason}")]
    BadUrl { url: String, reason: String },
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self {
            StoreError::Full { .. } => "CDL-7001",
            StoreError::Failed { .. } => "CDL-7002",
            StoreError::BadUrl { .. } => "CDL-7003",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            StoreError::Full { .. } => {
                Some("make room where the store is, and run it again".into())
            }
            StoreError::Failed { .. } => None,
            StoreError::BadUrl { .. } => Some("a directory, or s3://bucket/prefix".into()),
        }
    }

    fn is_retryable(&self) -> bool {
        matches!(self, StoreError::Failed { .. })
    }
}
