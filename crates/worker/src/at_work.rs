//! Current computations of a worker, and since when: for those who wonder what takes so long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use caudal_broker::LongWork;
use caudal_core::{SessionId, limits};
use caudal_runtime::time::{self, Instant};

/// All that a worker process computes at this moment.
#[derive(Debug, Default)]
pub struct AtWork {
    works: Mutex<Works>,
}

#[derive(Debug, Default)]
struct Works {
    begun: u64,
    by_number: BTreeMap<u64, Work>,
}

#[derive(Debug)]
struct Work {
    session: SessionId,
    what: String,
    since: Instant,
}

/// A computation that goes on for as long as this is not dropped.
#[derive(Debug)]
pub struct Ongoing {
    at_work: Arc<AtWork>,
    number: u64,
}

impl AtWork {
    pub fn begin(self: &Arc<Self>, session: &SessionId, what: String) -> Ongoing {
        let mut works = self.lock();
        works.begun += 1;
        let (number, session) = (works.begun, session.clone());
        // Names of queries are a tenant's, and this is read on an operator's terminal.
        let what = what.chars().filter(|letter| !letter.is_control());
        let what = what.take(limits::WORK_LETTERS_MAX).collect();
        works.by_number.insert(number, Work { session, what, since: time::now() });
        Ongoing { at_work: Arc::clone(self), number }
    }

    /// Of each session what has taken longest, if that is long; longest first.
    pub fn long(&self, worker: &str, now: Instant) -> Vec<LongWork> {
        let works = self.lock();
        let mut longest = BTreeMap::new();
        // They were begun in this order.
        for work in works.by_number.values() {
            longest.entry(&work.session).or_insert(work);
        }
        let long = longest.into_values().filter_map(|work| {
            let taken = now.saturating_duration_since(work.since);
            (taken >= Duration::from_millis(limits::LONG_WORK_MS)).then(|| LongWork {
                session: work.session.clone(),
                worker: worker.to_string(),
                what: work.what.clone(),
                seconds: taken.as_secs(),
            })
        });
        let mut long: Vec<_> = long.collect();
        long.sort_by_key(|work| std::cmp::Reverse(work.seconds));
        long
    }

    /// A lock that a panicking holder has left is still a lock: every change under it is one step.
    fn lock(&self) -> MutexGuard<'_, Works> {
        self.works.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        self.at_work.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_session_the_longest_is_told_once_it_is_long() {
        let (at_work, session) = (Arc::new(AtWork::default()), |name: &str| SessionId(name.into()));
        let first = at_work.begin(&session("a"), "first".into());
        let _second = at_work.begin(&session("a"), "second".into());
        let _other = at_work.begin(&session("b"), "\x1bother".repeat(1000));
        let after = |ms| at_work.long("w", time::now() + Duration::from_millis(ms));
        assert_eq!(after(limits::LONG_WORK_MS / 2), []);
        let [one, two] = &after(limits::LONG_WORK_MS)[..] else { panic!("two sessions") };
        assert_eq!((one.what.as_str(), one.session.0.as_str(), one.seconds), ("first", "a", 5));
        assert_eq!(two.what.len(), limits::WORK_LETTERS_MAX);
        assert!(two.what.starts_with("otherother"), "{:?}", two.what);
        drop(first);
        assert_eq!(after(limits::LONG_WORK_MS)[0].what, "second");
    }
}
