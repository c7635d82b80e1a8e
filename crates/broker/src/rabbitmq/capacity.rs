//! Waiting for capacity in a queue that has refused a message.
//!
//! A refused message has travelled for nothing, and with slow workers a queue is full most of the
//! time. So nobody sends a message in order to find out: one of those who wait looks how many
//! messages are in the queue, and as many as there is capacity for are let go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use caudal_core::limits;
use caudal_runtime::Backoff;
use tokio::time::{Instant, sleep};

use super::RabbitBroker;

/// Those who wait, by queue.
#[derive(Default)]
pub struct Capacities {
    turnstiles: Mutex<HashMap<String, Arc<Turnstile>>>,
}

/// One looks at a time.
type Turnstile = tokio::sync::Mutex<Fill>;

/// Fill level of a queue. Its capacity is not known, only that it has refused a message: it was full at the most
/// that was ever seen in it.
#[derive(Default)]
struct Fill {
    full_at: u32,
    /// Number of messages that may still be let go.
    free: u32,
}

impl Capacities {
    pub async fn wait(&self, broker: &RabbitBroker, queue: &str) {
        let turnstile = Arc::clone(self.lock().entry(queue.to_string()).or_default());
        {
            let mut fill = turnstile.lock().await;
            if fill.free == 0 {
                look_until_free(broker, queue, &mut fill).await;
            }
            fill.free = fill.free.saturating_sub(1);
        }
        drop(turnstile);
        // One that nobody waits at any more.
        self.lock().retain(|_, turnstile| Arc::strong_count(turnstile) > 1);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Turnstile>>> {
        self.turnstiles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_until_free(broker: &RabbitBroker, queue: &str, fill: &mut Fill) {
    let deadline = Instant::now() + Duration::from_millis(limits::CAPACITY_WAIT_MS_MAX);
    let looks = Backoff::new(limits::CAPACITY_LOOK_MS_MIN, limits::CAPACITY_LOOK_MS_MAX);
    let mut looked = 0;
    while fill.free == 0 && Instant::now() < deadline {
        sleep(looks.pause(looked)).await;
        looked += 1;
        // A queue that is gone, or a broker: the next publish tells.
        let Ok(Some(waiting)) = broker.messages_waiting(queue).await else { return };
        fill.saw(waiting);
    }
}

impl Fill {
    fn saw(&mut self, waiting: u32) {
        self.full_at = self.full_at.max(waiting).max(1);
        self.free = self.full_at - waiting;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_capacity_below_the_most_that_was_seen() {
        let mut fill = Fill::default();
        let mut free = |waiting| {
            fill.saw(waiting);
            fill.free
        };
        assert_eq!(free(0), 1, "it was emptied in the meantime");
        assert_eq!(free(60), 0);
        assert_eq!(free(64), 0);
        assert_eq!(free(61), 3);
        assert_eq!(free(64), 0);
    }
}
