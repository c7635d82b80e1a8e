//! Waiting for room in a queue that has refused a message.
//!
//! A refused message has travelled for nothing, and with slow workers a queue is full most of the
//! time. So nobody sends a message in order to find out: one of those who wait looks how many
//! messages are in the queue, and as many as there is room for are let go.

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

/// One looks at a time.
type Turnstile = tokio::sync::Mutex<Sight>;

/// What is known of a queue. How many messages it takes is not, only that it has refused one: it was
/// full at the most that was ever seen in it.
#[derive(Default)]
struct Sight {
    full_at: u32,
    /// How many more may be let go.
    room_for: u32,
}

impl Rooms {
    pub async fn wait(&self, broker: &RabbitBroker, queue: &str) {
        let turnstile = Arc::clone(self.lock().entry(queue.to_string()).or_default());
        {
            let mut sight = turnstile.lock().await;
            if sight.room_for == 0 {
                look_until_room(broker, queue, &mut sight).await;
            }
            sight.room_for = sight.room_for.saturating_sub(1);
        }
        drop(turnstile);
        // One that nobody waits at any more.
        self.lock().retain(|_, turnstile| Arc::strong_count(turnstile) > 1);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Turnstile>>> {
        self.turnstiles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_until_room(broker: &RabbitBroker, queue: &str, sight: &mut Sight) {
    let deadline = Instant::now() + Duration::from_millis(LOOK_MS_MAX);
    let mut pauses = Pauses::new(PAUSE_MS_MIN, PAUSE_MS_MAX);
    while sight.room_for == 0 && Instant::now() < deadline {
        sleep(pauses.next()).await;
        // A queue that is gone, or a broker: the next publish tells.
        let Ok(Some(waiting)) = broker.messages_waiting(queue).await else { return };
        sight.saw(waiting);
    }
}

impl Sight {
    fn saw(&mut self, waiting: u32) {
        self.full_at = self.full_at.max(waiting).max(1);
        self.room_for = self.full_at - waiting;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_below_the_most_that_was_seen() {
        let mut sight = Sight::default();
        let mut room_for = |waiting| {
            sight.saw(waiting);
            sight.room_for
        };
        assert_eq!(room_for(0), 1, "it was emptied in the meantime");
        assert_eq!(room_for(60), 0);
        assert_eq!(room_for(64), 0);
        assert_eq!(room_for(61), 3);
        assert_eq!(room_for(64), 0);
    }
}
