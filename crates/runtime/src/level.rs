//! A number that only rises, and those who wait for it to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Clones are the same level. It starts at zero. Waiters are woken in the order in which they came:
/// a `watch` of tokio draws lots, and a simulation could not be replayed.
#[derive(Clone, Debug, Default)]
pub struct Level(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    value: AtomicU64,
    risen: Notify,
}

impl Level {
    pub fn get(&self) -> u64 {
        self.0.value.load(Ordering::Acquire)
    }

    /// Raises it to a value, unless it is higher already.
    pub fn raise_to(&self, value: u64) {
        if self.0.value.fetch_max(value, Ordering::AcqRel) < value {
            self.0.risen.notify_waiters();
        }
    }

    /// Raises it by one.
    pub fn raise(&self) {
        self.0.value.fetch_add(1, Ordering::AcqRel);
        self.0.risen.notify_waiters();
    }

    /// Returns when it is above a value, with what it is.
    pub async fn above(&self, value: u64) -> u64 {
        loop {
            // Registered before the look, so that no rise in between is missed.
            let risen = self.0.risen.notified();
            tokio::pin!(risen);
            risen.as_mut().enable();
            let now = self.get();
            if now > value {
                return now;
            }
            risen.await;
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "what replaces tokio is tried on tokio")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_rises_for_all_who_wait_and_never_falls() {
        let level = Level::default();
        level.raise_to(3);
        level.raise_to(2);
        assert_eq!(level.get(), 3);
        let (one, two) = (level.clone(), level.clone());
        let waiting = tokio::spawn(async move { tokio::join!(one.above(3), two.above(4)) });
        tokio::task::yield_now().await;
        level.raise();
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        level.raise();
        assert_eq!(waiting.await.unwrap().1, 5);
    }
}
