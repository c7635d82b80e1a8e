//! Long computations of a session's workers, as the workers report them, so that its client learns what it waits for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use caudal_broker::{LongWork, SessionEvent};
use caudal_core::limits;
use caudal_runtime::time::{self, Instant};
use tracing::debug;

use crate::Gateway;

/// The long computations of a session, by their workers.
#[derive(Default)]
pub struct LongWorks {
    heard: Mutex<BTreeMap<String, (LongWork, Instant)>>,
}

impl LongWorks {
    pub fn hear(&self, work: LongWork, now: Instant) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.insert(work.worker.clone(), (work, now));
    }

    /// In words, the longest first. What is not said again is over, or its worker is.
    pub fn words(&self, now: Instant) -> Vec<String> {
        let told = Duration::from_millis(limits::LONG_WORK_TOLD_MS);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.retain(|_, (_, at)| now.saturating_duration_since(*at) < told);
        let mut works: Vec<_> = heard.values().map(|(work, _)| work).collect();
        works.sort_by_key(|work| std::cmp::Reverse(work.seconds));
        works.into_iter().map(words).collect()
    }
}

/// Listens for as long as the gateway runs.
pub async fn listen(gateway: Arc<Gateway>) {
    loop {
        match gateway.broker.listen().await {
            Ok(mut listener) => {
                while let Ok(event) = listener.next().await {
                    if let SessionEvent::Working(work) = event
                        && let Some(open) = gateway.sessions.get(&work.session)
                    {
                        open.long_works.hear(work, time::now());
                    }
                }
            }
            Err(error) => debug!(%error, "cannot listen to events"),
        }
        time::sleep(Duration::from_millis(limits::SESSIONS_POLL_MS)).await;
    }
}

/// Twice as long is worth saying again, a second more is not.
fn words(work: &LongWork) -> String {
    let (LongWork { worker, what, .. }, unit) = (work, limits::LONG_WORK_MS / 1000);
    let seconds = unit << (work.seconds / unit).max(1).ilog2();
    format!("worker {worker} computes {what}, for more than {seconds} s")
}

#[cfg(test)]
mod tests {
    use caudal_core::SessionId;

    use super::*;

    #[test]
    fn what_is_said_is_believed_for_a_while_and_changes_seldom() {
        let (works, start) = (LongWorks::default(), time::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let say = |worker: &str, seconds| {
            let (session, what) = (SessionId("s".into()), "stage s2 of q1, at shard 0".into());
            let work = LongWork { session, worker: worker.into(), what, seconds };
            works.hear(work, after(seconds));
        };
        assert!(works.words(start).is_empty());
        let one = |seconds| {
            format!("worker one computes stage s2 of q1, at shard 0, for more than {seconds} s")
        };
        for (at, shown) in [(5, 5), (9, 5), (10, 10), (19, 10), (20, 20), (39, 20), (40, 40)] {
            say("one", at);
            assert_eq!(works.words(after(at)), [one(shown)], "at {at}");
        }
        say("two", 41);
        assert_eq!(works.words(after(41)).len(), 2);
        assert_eq!(works.words(after(47)).len(), 1, "one has ended, or says nothing");
        assert!(works.words(after(60)).is_empty());
    }
}
