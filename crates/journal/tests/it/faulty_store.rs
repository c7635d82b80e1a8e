//! A store that can be stopped between any two operations, and that fails when it is told to.
//!
//! Each operation waits once before it is done. So whoever polls a future decides how far it comes,
//! and a process that dies is a future that is dropped.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use async_trait::async_trait;
use bytes::Bytes;
use caudal_journal::{Created, Store, StoreError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not done, and an error says so.
    NotDone,
    /// It is done, and an error says that it is not known.
    AnswerLost,
    /// It is done, the answer is lost and it is done again: a create finds what it has made itself.
    AskedAgain,
}

pub struct FaultyStore {
    inner: Arc<dyn Store>,
    /// Of the next operation.
    fault: Mutex<Option<Fault>>,
    operations: AtomicUsize,
    faults: AtomicUsize,
}

impl FaultyStore {
    pub fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        let fault = Mutex::new(None);
        Arc::new(Self { inner, fault, operations: 0.into(), faults: 0.into() })
    }

    pub fn fail_next(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
    }

    pub fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    pub fn faults(&self) -> usize {
        self.faults.load(Ordering::Relaxed)
    }

    async fn operate<T, F>(&self, name: &str, operation: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        wait_once().await;
        self.operations.fetch_add(1, Ordering::Relaxed);
        let fault = self.fault.lock().unwrap().take();
        self.faults.fetch_add(usize::from(fault.is_some()), Ordering::Relaxed);
        match fault {
            None => return operation().await,
            Some(Fault::NotDone) => {}
            Some(Fault::AnswerLost) => {
                operation().await?;
            }
            Some(Fault::AskedAgain) => {
                operation().await?;
                return operation().await;
            }
        }
        let name = name.to_string();
        Err(StoreError::Failed { action: "reach", name, reason: "a fault was asked for".into() })
    }
}

async fn wait_once() {
    let mut has_waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[async_trait]
impl Store for FaultyStore {
    async fn create(&self, name: &str, body: Bytes) -> Result<Created, StoreError> {
        self.operate(name, || self.inner.create(name, body.clone())).await
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), StoreError> {
        self.operate(name, || self.inner.put(name, body.clone())).await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, StoreError> {
        self.operate(name, || self.inner.get(name)).await
    }

    async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.operate(folder, || self.inner.list(folder)).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.operate(folder, || self.inner.folders(folder)).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        self.operate(name, || self.inner.delete(name)).await
    }

    async fn delete_folder(&self, folder: &str) -> Result<(), StoreError> {
        self.operate(folder, || self.inner.delete_folder(folder)).await
    }
}
