//! A store that can be stopped between any two operations, and that fails when it is told to.
//!
//! A stepped one does one operation each time it is let: so the poller of a future decides how far it
//! comes, and a process that dies is a future that is dropped.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use async_trait::async_trait;
use bytes::Bytes;
use caudal_store::{Created, Store, StoreError};

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
    gate: Mutex<Gate>,
    /// Of which operation, counted from zero.
    fault: Mutex<Option<(usize, Fault)>>,
    operations: AtomicUsize,
    faults: AtomicUsize,
}

enum Gate {
    Open,
    Stepped { may_pass: bool, waiting: Vec<Waker> },
}

impl FaultyStore {
    pub fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self::with_gate(inner, Gate::Open))
    }

    pub fn stepped(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self::with_gate(inner, Gate::Stepped { may_pass: false, waiting: vec![] }))
    }

    fn with_gate(inner: Arc<dyn Store>, gate: Gate) -> Self {
        let (gate, fault) = (Mutex::new(gate), Mutex::new(None));
        Self { inner, gate, fault, operations: 0.into(), faults: 0.into() }
    }

    /// Lets one operation be done, whichever comes first.
    pub fn step(&self) {
        if let Gate::Stepped { may_pass, waiting } = &mut *self.gate.lock().unwrap() {
            *may_pass = true;
            waiting.drain(..).for_each(Waker::wake);
        }
    }

    pub fn fail_at(&self, operation: usize, fault: Fault) {
        *self.fault.lock().unwrap() = Some((operation, fault));
    }

    pub fn fail_next(&self, fault: Fault) {
        self.fail_at(self.operations(), fault);
    }

    /// Operations that were done, or failed.
    pub fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    pub fn faults(&self) -> usize {
        self.faults.load(Ordering::Relaxed)
    }

    async fn pass_gate(&self) {
        poll_fn(|context| match &mut *self.gate.lock().unwrap() {
            Gate::Open => Poll::Ready(()),
            Gate::Stepped { may_pass, waiting } => {
                if std::mem::take(may_pass) {
                    return Poll::Ready(());
                }
                waiting.push(context.waker().clone());
                Poll::Pending
            }
        })
        .await;
    }

    fn take_fault(&self) -> Option<Fault> {
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        let fault = self.fault.lock().unwrap().take_if(|(at, _)| *at == operation)?;
        self.faults.fetch_add(1, Ordering::Relaxed);
        Some(fault.1)
    }

    async fn operate<T, F>(&self, name: &str, operation: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        self.pass_gate().await;
        match self.take_fault() {
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
