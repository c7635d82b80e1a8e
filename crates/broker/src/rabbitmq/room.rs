//! Waiting for room in a queue that has refused a message.
//!
//! A refused message has travelled for nothing, and with slow workers a queue is full most of the
//! time. So nobody sends a message in order to find out: one of those who wait looks how many
//! messages are in the queue, and they are let go one by one, each after a look of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::RabbitBroker;
use super::pauses::Pauses;

/// Pauses between looks.
const PAUSE_MS_MIN: u64 = 5;
const PAUSE_MS_MAX: u64 = 50;
/// What is seen may deceive: after this time it is tried.
const LOOK_MS_MAX: u64 = 1000;

/// Those who wait, by queue.
#[derive(Default)]
pub struct Rooms {
    turnstiles: Mutex<HashMap<String, Arc<Turnstile>>>,
}

/// Lets one through at a time; holds how many messages the queue is known to take.
type Turnstile = tokio::sync::Mutex<u32>;

impl Rooms {
    pub async fn wait(&self, broker: &RabbitBroker, queue: &str) {
        let turnstile = Arc::clone(self.lock().entry(queue.to_string()).or_default());
        {
            let mut full_at = turnstile.lock().await;
            look_until_room(broker, queue, &mut full_at).await;
        }
        drop(turnstile);
        // One that nobody waits at any more.
        self.lock().retain(|_, turnstile| Arc::strong_count(turnstile) > 1);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Turnstile>>> {
        self.turnstiles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_until_room(broker: &RabbitBroker, queue: &str, full_at: &mut u32) {
    let deadline = Instant::now() + Duration::from_millis(LOOK_MS_MAX);
    let mut pauses = Pauses::new(PAUSE_MS_MIN, PAUSE_MS_MAX);
    while Instant::now() < deadline {
        sleep(pauses.next()).await;
        // A queue that is gone, or a broker: the next publish tells.
        let Ok(Some(waiting)) = broker.messages_waiting(queue).await else { return };
        if has_room(waiting, full_at) {
            return;
        }
    }
}

/// How many a queue takes is not known here, only that it has refused: it was full at the most that
/// was ever seen in it.
fn has_room(waiting: u32, full_at: &mut u32) -> bool {
    *full_at = waiting.max(*full_at);
    waiting == 0 || waiting < *full_at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_below_the_most_that_was_seen() {
        let full_at = &mut 0;
        assert!(has_room(0, full_at), "it was emptied in the meantime");
        assert!(!has_room(60, full_at));
        assert!(!has_room(64, full_at));
        assert!(has_room(63, full_at));
        assert!(!has_room(64, full_at));
    }
}
