//! A watch: for how long values have been seen not to change.
//!
//! Only time that was watched counts: between two looks no more than [`WATCH_GAP_MS_MAX`]. A process
//! that was stopped, or could not reach the store, has not seen that nothing happened meanwhile, and
//! those it watches may have been stopped by the same thing.
//!
//! [`WATCH_GAP_MS_MAX`]: limits::WATCH_GAP_MS_MAX

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use caudal_core::limits;
use caudal_runtime::failpoint;
use caudal_runtime::time::Instant;

pub struct Watch<K, V> {
    seen: HashMap<K, Seen<V>>,
}

struct Seen<V> {
    value: V,
    last: Instant,
    unchanged: Duration,
}

impl<K, V> Default for Watch<K, V> {
    fn default() -> Self {
        Self { seen: HashMap::new() }
    }
}

impl<K: Eq + Hash, V: PartialEq> Watch<K, V> {
    /// Takes note of a look; says for how long the value has been watched unchanged. `now` is a time
    /// before the look: what changes after it is seen next time.
    pub fn observe(&mut self, key: K, value: V, now: Instant) -> Duration {
        let gap_max = old_lease(Duration::from_millis(limits::WATCH_GAP_MS_MAX));
        let unchanged = match self.seen.get(&key) {
            Some(seen) if seen.value == value => {
                seen.unchanged + now.saturating_duration_since(seen.last).min(gap_max)
            }
            _ => Duration::ZERO,
        };
        self.seen.insert(key, Seen { value, last: now, unchanged });
        unchanged
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Forgets whatever is not among these.
    pub fn retain(&mut self, is_there: impl Fn(&K) -> bool) {
        self.seen.retain(|key, _| is_there(key));
    }
}

/// A deliberate defect, which the simulation has to find: time counts in which nobody has watched.
fn old_lease(gap_max: Duration) -> Duration {
    if failpoint::mutant("old_lease") { Duration::MAX } else { gap_max }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_stays_the_same_grows_old_and_what_changes_is_young_again() {
        let start = caudal_runtime::time::now();
        let mut watch = Watch::default();
        let mut at =
            |seconds: u32, heartbeat: u64| watch.observe("s", heartbeat, start + SECOND * seconds);
        assert_eq!(at(0, 1), Duration::ZERO);
        assert_eq!(at(1, 1), SECOND);
        assert_eq!(at(3, 1), SECOND * 3);
        assert_eq!(at(4, 2), Duration::ZERO);
        assert_eq!(at(5, 2), SECOND);
        assert_eq!(at(6, 1), Duration::ZERO, "an old value again is a change, too");
    }

    #[test]
    fn time_that_was_not_watched_does_not_count() {
        let start = caudal_runtime::time::now();
        let gap_max = Duration::from_millis(limits::WATCH_GAP_MS_MAX);
        let mut watch = Watch::default();
        watch.observe("s", 1, start);
        assert_eq!(watch.observe("s", 1, start + SECOND * 3600), gap_max);
        assert_eq!(watch.observe("s", 1, start + SECOND * 3601), gap_max + SECOND);
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let start = caudal_runtime::time::now();
        let mut watch = Watch::default();
        watch.observe("gone", 1, start);
        watch.retain(|key| *key != "gone");
        assert_eq!(watch.observe("gone", 1, start + SECOND), Duration::ZERO);
    }
}
