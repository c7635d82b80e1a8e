//! Channels of a link, used by one operation at a time.
//!
//! A channel that carries one operation at a time cannot confuse two: lapin numbers publishes before
//! it queues them, and hands a returned message to whichever confirm comes next. Channels are cheap
//! and share their connection; many operations at once use many channels.

use std::sync::{Arc, Mutex, PoisonError};

use caudal_core::limits;
use lapin::options::ConfirmSelectOptions;
use lapin::{Channel, Connection};
use tokio::sync::Semaphore;

use super::fault::Fault;
use super::link::Link;
use crate::Error;

pub struct Pool {
    pub link: Link,
    /// Whether its channels ask the broker to confirm what they publish.
    confirms: bool,
    idle: Mutex<Vec<Channel>>,
    /// A connection has only so many channels.
    operations: Semaphore,
}

impl Pool {
    pub fn new(link: Link, confirms: bool) -> Self {
        let operations = Semaphore::new(limits::BROKER_OPERATIONS_MAX);
        Self { link, confirms, idle: Mutex::default(), operations }
    }

    /// Attempts an operation on a channel of its own until it is done or refused.
    pub async fn with_channel<T, F>(
        &self,
        subject: &str,
        operation: impl Fn(Channel) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let _one = self.operations.acquire().await;
        let operation = &operation;
        let attempt = move |connection: Arc<Connection>| async move {
            let channel = self.take(&connection).await?;
            let done = operation(channel.clone()).await?;
            self.give_back(channel);
            Ok(done)
        };
        self.link.persist(subject, attempt).await
    }

    async fn take(&self, connection: &Connection) -> Result<Channel, Fault> {
        while let Some(channel) = self.pop() {
            if channel.status().connected() {
                return Ok(channel);
            }
        }
        let channel = connection.create_channel().await?;
        if self.confirms {
            channel.confirm_select(ConfirmSelectOptions::default()).await?;
        }
        Ok(channel)
    }

    fn pop(&self) -> Option<Channel> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Only after a success: an error closes a channel.
    fn give_back(&self, channel: Channel) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < limits::BROKER_OPERATIONS_MAX {
            idle.push(channel);
        }
    }
}
