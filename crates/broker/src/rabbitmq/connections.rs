//! Connections for subscriptions, each of which has a channel of its own. A connection has only so many (2047, unless
//! RabbitMQ is told otherwise), and a worker has a subscription for each shard of each session: when one connection is full
//! another is made.

use std::sync::{Arc, Mutex, PoisonError};

use caudal_core::limits;

use super::link::Link;
use crate::Error;

/// Connections, in the order in which they are filled.
pub struct Connections {
    /// What one of them can have in all.
    channels_max: usize,
    filled: Mutex<Vec<Filled>>,
}

struct Filled {
    link: Link,
    /// Each subscription has one.
    taken: Arc<()>,
    subscriptions_max: usize,
}

/// A subscription's place on a connection, for as long as it is not dropped.
pub struct Place {
    pub link: Link,
    _taken: Arc<()>,
}

impl Connections {
    /// The first one is there already, and is used for other things as well.
    pub fn new(first: Link, channels_max: usize) -> Self {
        let subscriptions_max = channels_max.saturating_sub(limits::BROKER_CHANNELS_RESERVED);
        let first = Filled { link: first, taken: Arc::default(), subscriptions_max };
        Self { channels_max, filled: Mutex::new(vec![first]) }
    }

    /// A place for one more subscription; `connect` begins to make a further connection.
    pub fn place(&self, connect: impl FnOnce() -> Link) -> Result<Place, Error> {
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = filled.iter().find_map(Filled::place) {
            return Ok(place);
        }
        let connections = filled.len();
        if connections == limits::BROKER_CONNECTIONS_MAX || self.channels_max == 0 {
            return Err(Error::NoChannel { connections, channels_max: self.channels_max });
        }
        tracing::info!(connections, "one more connection to the broker");
        let subscriptions_max = self.channels_max;
        let next = Filled { link: connect(), taken: Arc::default(), subscriptions_max };
        let place = Place { link: next.link.clone(), _taken: Arc::clone(&next.taken) };
        filled.push(next);
        Ok(place)
    }
}

impl Filled {
    fn place(&self) -> Option<Place> {
        // Its own clone is none.
        let taken = Arc::strong_count(&self.taken) - 1;
        (taken < self.subscriptions_max)
            .then(|| Place { link: self.link.clone(), _taken: Arc::clone(&self.taken) })
    }
}
