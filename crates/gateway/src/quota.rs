//! What one owner, or one session, may have at the same time: calls, connections, uploads. Counted, and free again when
//! it is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use caudal_core::limits;

use crate::Error;

/// Things of one kind, by those who have them.
#[derive(Debug)]
pub struct Quota {
    /// The kind, in words.
    what: &'static str,
    max: usize,
    taken: Arc<Mutex<Taken>>,
}

/// How many each has; who has none is not in it.
type Taken = HashMap<String, usize>;

/// A part of what somebody may have.
#[derive(Debug)]
pub struct Share {
    whose: String,
    count: usize,
    taken: Arc<Mutex<Taken>>,
}

/// What is counted at a gateway: by session, or by owner where several are told apart.
#[derive(Debug)]
pub struct Quotas {
    /// By owner: calls and streams.
    pub streams: Quota,
    /// By owner: results that are read.
    pub results: Quota,
    /// By owner.
    pub connections: Quota,
    /// By session: streams of batches.
    pub puts: Quota,
    /// By owner: bytes of messages that have not come whole.
    pub incoming: Quota,
    /// By owner: bytes of actions that are being done.
    pub actions: Quota,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            streams: Quota::new("streams", limits::GATEWAY_OWNER_STREAMS_MAX),
            results: Quota::new("results", limits::GATEWAY_OWNER_RESULT_STREAMS_MAX),
            connections: Quota::new("connections", limits::GATEWAY_OWNER_CONNECTIONS_MAX),
            puts: Quota::new("uploads", limits::PUT_SESSION_STREAMS_MAX),
            incoming: Quota::new("bytes on their way", limits::GATEWAY_OWNER_INCOMING_BYTES_MAX),
            actions: Quota::new("bytes of calls", limits::GATEWAY_OWNER_ACTION_BYTES_MAX),
        }
    }
}

impl Quota {
    pub fn new(what: &'static str, max: usize) -> Self {
        Self { what, max, taken: Arc::default() }
    }

    /// One more for somebody.
    pub fn take(&self, whose: &str) -> Result<Share, Error> {
        self.take_many(whose, 1)
    }

    /// So many more.
    pub fn take_many(&self, whose: &str, count: usize) -> Result<Share, Error> {
        let (whose, taken) = (whose.to_string(), Arc::clone(&self.taken));
        let mut share = Share { whose, count: 0, taken };
        self.resize(&mut share, count)?;
        Ok(share)
    }

    /// A share of so many. Where that would be too much it stays as it was.
    pub fn resize(&self, share: &mut Share, count: usize) -> Result<(), Error> {
        let mut taken = lock(&self.taken);
        let has = taken.get(&share.whose).copied().unwrap_or(0) - share.count + count;
        if has > self.max && count > share.count {
            return Err(Error::OverQuota { what: self.what, max: self.max });
        }
        share.count = count;
        taken.insert(share.whose.clone(), has);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        match taken.get_mut(&self.whose) {
            Some(has) if *has > self.count => *has -= self.count,
            _ => drop(taken.remove(&self.whose)),
        }
    }
}

/// A lock that a panicking holder has left is still a lock: every change under it is one step.
fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    #[test]
    fn each_has_what_it_may_and_what_is_dropped_is_free_again() {
        let quota = Quota::new("streams", 2);
        let [first, _second] = [(); 2].map(|()| quota.take("one").unwrap());
        let refused = quota.take("one").unwrap_err();
        assert_eq!(refused.code(), codes::OVER_QUOTA);
        assert_eq!(refused.to_string(), "all 2 streams are taken that it may have here");
        let others = [(); 2].map(|()| quota.take("two").unwrap());
        drop(first);
        let _third = quota.take("one").unwrap();
        assert!(quota.take("one").is_err());
        drop(others);
        assert_eq!(lock(&quota.taken).len(), 1, "who has none is forgotten");
    }

    #[test]
    fn a_share_grows_and_shrinks_within_the_bound() {
        let quota = Quota::new("bytes", 10);
        let (mut one, mut two) =
            (quota.take_many("a", 4).unwrap(), quota.take_many("a", 5).unwrap());
        quota.resize(&mut one, 5).unwrap();
        assert!(quota.resize(&mut two, 6).is_err());
        quota.resize(&mut one, 0).unwrap();
        quota.resize(&mut two, 10).unwrap();
        assert!(quota.take("a").is_err());
        drop(one);
        drop(two);
        assert!(lock(&quota.taken).is_empty());
    }
}
