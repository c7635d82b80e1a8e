//! State of a session beside its answers: what it waits for, and how it ended.

use std::time::Duration;

use caudal_core::limits;
use caudal_runtime::Level;
use caudal_runtime::time::{Instant, now, timeout_at};
use tokio::sync::watch;

use super::error::Error;

/// Time after which a wait is reported: what passes sooner is not worth a word.
const SETTLED: Duration = Duration::from_millis(limits::WAITING_SETTLED_MS);

pub struct Known {
    facts: watch::Sender<Facts>,
    /// How often the tables have to be sent again.
    resends: Level,
}

#[derive(Clone)]
struct Facts {
    waiting_for: Vec<String>,
    since: Instant,
    /// Set once, by whoever first learns that the session cannot go on.
    end: Option<Error>,
}

impl Default for Known {
    fn default() -> Self {
        let facts = Facts { waiting_for: vec![], since: now(), end: None };
        Self { facts: watch::Sender::new(facts), resends: Level::default() }
    }
}

impl Known {
    pub fn waits_for(&self, waiting_for: Vec<String>) {
        self.facts.send_if_modified(|facts| {
            let has_changed = facts.waiting_for != waiting_for;
            if has_changed {
                facts.waiting_for = waiting_for;
                facts.since = now();
            }
            has_changed
        });
    }

    pub fn ends(&self, error: Error) {
        self.facts.send_modify(|facts| {
            facts.end.get_or_insert(error);
        });
    }

    pub fn resend(&self, times: u32) {
        self.resends.raise_to(u64::from(times));
    }

    /// Returns when the tables have to be sent again, with how often in all.
    pub async fn resend_above(&self, done: u64) -> u64 {
        self.resends.above(done).await
    }

    /// Returns when the session has waited for something other than `told` for a while, or does not
    /// wait any more; fails when it has ended.
    pub async fn waits_for_other_than(&self, told: &[String]) -> Result<Vec<String>, Error> {
        let mut changes = self.facts.subscribe();
        loop {
            let Facts { waiting_for, since, end } = changes.borrow_and_update().clone();
            if let Some(error) = end {
                return Err(error);
            }
            let change = changes.changed();
            if waiting_for == told {
                // The sender is borrowed: it is not dropped meanwhile.
                let _ = change.await;
            } else if waiting_for.is_empty() || timeout_at(since + SETTLED, change).await.is_err() {
                return Ok(waiting_for);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Failure, codes};

    use super::*;

    fn words(text: &str) -> Vec<String> {
        vec![text.to_string()]
    }

    #[tokio::test]
    async fn what_lasts_is_told_and_what_passes_is_not() {
        let known = Known::default();
        let started = now();
        known.waits_for(words("a worker"));
        let told = known.waits_for_other_than(&[]).await.unwrap();
        assert_eq!(told, words("a worker"));
        assert!(caudal_runtime::time::since(started) >= SETTLED);

        let passing = async {
            known.waits_for(words("the broker"));
            caudal_runtime::time::sleep(SETTLED / 20).await;
            known.waits_for(told.clone());
            caudal_runtime::time::sleep(SETTLED / 20).await;
            known.waits_for(vec![]);
        };
        let (now, ()) = tokio::join!(known.waits_for_other_than(&told), passing);
        assert_eq!(now.unwrap(), [""; 0]);
    }

    #[tokio::test]
    async fn the_first_end_is_the_end() {
        let known = Known::default();
        for message in ["first", "second"] {
            known.ends(Error::Failed(Failure::new(codes::DATA, message)));
        }
        assert_eq!(known.waits_for_other_than(&[]).await.unwrap_err().to_string(), "first");
    }
}
