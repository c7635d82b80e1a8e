//! The trait of a store of durable objects: a directory, or an object store.
//!
//! A name is a path of segments separated by `/`; none is empty, none begins with a dot. Many
//! processes use a store at once. Whatever a method has told, written or only read, survives a power
//! cut: who acts on what it saw must not find it undone.

use async_trait::async_trait;
use bytes::Bytes;
use caudal_core::{Code, Coded, codes};
use thiserror::Error;

#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Writes an object unless there is one of that name. Whether it was written: where an answer
    /// was lost on the way, `Exists` may mean that we did it ourselves. After an error the object
    /// may be there or not, or come to be there later.
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError>;

    /// Writes an object, in the place of another if there is one. A reader sees the old or the new.
    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError>;

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError>;

    /// The names of all objects below a folder, in order. One that is written or removed meanwhile
    /// may be among them or not.
    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// The names (last segments) of the folders directly in a folder, in order. One in which there
    /// is no object (any more) may be among them or not.
    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// Removes an object. One that is not there is fine.
    async fn delete(&self, name: &str) -> Result<(), StoreError>;

    /// Removes a folder and all below it. One that is not there is fine. A directory loses it at
    /// once; an object store object by object, and after an error only in part.
    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    New,
    Exists,
}

/// Names come from sessions and workers: none may lead out of the store, or to what it hides.
pub(crate) fn check_name(name: &str) -> Result<(), StoreError> {
    let is_segment = |segment: &str| {
        !segment.is_empty() && !segment.starts_with('.') && !segment.contains(char::is_control)
    };
    match name.split('/').all(is_segment) {
        true => Ok(()),
        false => Err(StoreError::BadName { name: name.to_string() }),
    }
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("no room left to write {name}")]
    Full { name: String },
    #[error("cannot {action} {name}: {reason}")]
    Failed { action: &'static str, name: String, reason: String },
    #[error("{url} is not a store: {reason}")]
    BadUrl { url: String, reason: String },
    #[error("{name:?} cannot be the name of an object")]
    BadName { name: String },
    #[error("the object {name} is not what it should be: {reason}")]
    BadObject { name: String, reason: String },
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self {
            StoreError::Full { .. } => codes::STORE_FULL,
            StoreError::Failed { .. } => codes::STORE_FAILED,
            StoreError::BadUrl { .. } => codes::BAD_STORE_URL,
            StoreError::BadName { .. } => codes::BAD_OBJECT_NAME,
            StoreError::BadObject { .. } => codes::BAD_OBJECT,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            StoreError::Full { .. } => {
                Some("make room where the store is, and run it again".into())
            }
            StoreError::BadUrl { .. } => Some("a directory, or s3://bucket/prefix".into()),
            StoreError::Failed { .. }
            | StoreError::BadName { .. }
            | StoreError::BadObject { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lead_out_of_the_store() {
        for good in ["a", "sessions/x1/marks/s1#0-3/0", "a.b/c"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "/etc", "a//b", "a/", "..", "a/../../b", "./a", ".parts/x", "a\0b"] {
            assert!(matches!(check_name(bad), Err(StoreError::BadName { .. })), "{bad:?}");
        }
    }
}
