//! The name of a node, held by an exclusive queue, which only one connection can have: of two processes of one name the
//! second is refused, wherever they run.

use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits;
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use tokio::time::{Instant, sleep};

use super::RabbitBroker;
use crate::Error;

/// What RabbitMQ says of a queue that another connection has for itself.
const LOCKED: &str = "RESOURCE-LOCKED";

impl RabbitBroker {
    /// Takes a name in a cluster, unless another process has it, and keeps it as long as there is a connection. One that has just
    /// died may be believed to be there for a while.
    pub async fn hold_name(&self, name: &str, cluster: &str) -> Result<(), Error> {
        let deadline = Instant::now() + Duration::from_millis(limits::NODE_NAME_WAIT_MS_MAX);
        let queue = format!("caudal.node.{name}@{cluster}");
        while !self.has_name(&queue).await? {
            if Instant::now() >= deadline {
                return Err(Error::NameTaken { name: name.to_string() });
            }
            sleep(Duration::from_millis(limits::NODE_NAME_LOOK_MS)).await;
        }
        let shared = Arc::downgrade(&self.shared);
        // A lost connection takes the queue along.
        self.shared.io.handle().spawn(async move {
            loop {
                sleep(Duration::from_secs(limits::BROKER_HEARTBEAT_SECONDS.into())).await;
                let Some(shared) = shared.upgrade() else { return };
                match (RabbitBroker { shared }).has_name(&queue).await {
                    Ok(true) => {}
                    Ok(false) => tracing::warn!(queue, "another process has this node's name"),
                    Err(error) => tracing::debug!(%error, "cannot renew the node's name"),
                }
            }
        });
        Ok(())
    }

    async fn has_name(&self, queue: &str) -> Result<bool, Error> {
        let holding = self.shared.consuming.with_channel(queue, |channel| async move {
            let own = QueueDeclareOptions { exclusive: true, ..Default::default() };
            Ok(channel.queue_declare(queue.into(), own, FieldTable::default()).await?)
        });
        match holding.await {
            Ok(_) => Ok(true),
            Err(Error::Refused { reason }) if reason.contains(LOCKED) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
