//! Keeps a session's client: says that it is there, and tells it how its session is.
//!
//! A task of its own does both. The stream to the client only passes on what the task has found: while
//! the client reads something else, nothing on its connection may move, and it is there all the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use caudal_broker::Outage;
use caudal_core::{Coded, Failure, SessionId, limits};
use caudal_protocol::Queues;
use caudal_protocol::calls::Status;
use caudal_protocol::manifest::{Claim, Tombstone};
use caudal_runtime::task;
use caudal_runtime::time::{self, Instant, interval_later, wall_ms};
use caudal_store::{Lease, Renewed};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::warn;

use crate::gateway::over;
use crate::lost_queues::QueueKeeper;
use crate::open_sessions::OpenSession;
use crate::tokens::Owner;
use crate::{Error, Gateway};

/// That of a client that attaches for the first time.
const FIRST_EPOCH: u64 = 1;

/// A client that this gateway has, for as long as this is not dropped.
pub struct Attachment {
    statuses: watch::Receiver<Status>,
    /// Ends with the reason why the client has to go, never without one.
    keeping: JoinHandle<Error>,
}

impl Attachment {
    /// The next status of the session, whenever it changes: at once for the first time.
    pub async fn next(&mut self) -> Result<Status, Error> {
        if self.statuses.changed().await.is_ok() {
            return Ok(self.statuses.borrow_and_update().clone());
        }
        match (&mut self.keeping).await {
            Ok(error) => Err(error),
            Err(died) => Err(died.into()),
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

impl Gateway {
    /// Takes the session's client, from whichever gateway had it. One that can send its tables again survives the loss of a
    /// queue.
    pub async fn attach(
        self: &Arc<Self>,
        owner: &Owner,
        session: &SessionId,
        can_resend: bool,
    ) -> Result<Attachment, Error> {
        let open = self.find(owner, session).await?;
        let taking = Lease::take(self.records_of(session), &self.settings.name);
        let lease = self.in_time(session, taking).await?;
        open.has_epoch(lease.epoch);
        let (gateway, of) = (Arc::clone(self), Arc::clone(&open));
        let keeping = QueueKeeper::new(gateway, of, can_resend, lease.epoch == FIRST_EPOCH);
        let queues = self.in_time(session, keeping).await?;
        let mut keeper = LeaseKeeper {
            gateway: Arc::clone(self),
            open,
            lease,
            queues,
            claims: BTreeMap::new(),
            unclaimed_since: Some(time::now()),
            deserted_looks: 0,
        };
        let (sender, mut statuses) = watch::channel(keeper.look_in_time().await?);
        statuses.mark_changed();
        Ok(Attachment { statuses, keeping: task::spawn(keeper.keep(sender)) })
    }
}

struct LeaseKeeper {
    gateway: Arc<Gateway>,
    open: Arc<OpenSession>,
    lease: Lease,
    queues: QueueKeeper,
    /// By the names of their workers.
    claims: BTreeMap<String, Claim>,
    /// None once a worker has taken the session up.
    unclaimed_since: Option<Instant>,
    /// Looks in a row at which nobody worked for it any more.
    deserted_looks: u32,
}

impl LeaseKeeper {
    /// Ends with the reason why the client has to go; it learns a failure of its session as its last
    /// status, too.
    async fn keep(mut self, statuses: watch::Sender<Status>) -> Error {
        let end = self.renew(&statuses).await;
        if let Error::Over { failure, .. } = &end {
            statuses.send_modify(|status| status.failure = failure.clone());
        }
        end
    }

    async fn renew(&mut self, statuses: &watch::Sender<Status>) -> Error {
        let mut heartbeats = interval_later(Duration::from_millis(limits::LEASE_RENEW_MS));
        let gateway = Arc::clone(&self.gateway);
        let mut renewed = time::now();
        loop {
            tokio::select! {
                biased;
                leaving = gateway.left() => return leaving,
                () = heartbeats.tick() => {}
            }
            let status = match self.look_in_time().await {
                Ok(status) => {
                    renewed = time::now();
                    status
                }
                // The store may be back at the next heartbeat; janitors wait for several. Long before they bury the
                // session its client has to be where the store can be reached.
                Err(error @ Error::Store(_))
                    if error.is_retryable()
                        && time::since(renewed) < gateway.settings.grace / 2 =>
                {
                    warn!(session = %self.open.manifest.session, %error, "cannot renew the lease");
                    Status { waiting_for: vec![error.to_string()], ..statuses.borrow().clone() }
                }
                Err(error) => return error,
            };
            statuses.send_if_modified(|known| {
                let changes = *known != status;
                *known = status;
                changes
            });
        }
    }

    async fn look_in_time(&mut self) -> Result<Status, Error> {
        let (gateway, open) = (Arc::clone(&self.gateway), Arc::clone(&self.open));
        gateway.in_time(&open.manifest.session, self.look()).await
    }

    /// Says that the client is there, and finds out how the session is.
    async fn look(&mut self) -> Result<Status, Error> {
        let session = &self.open.manifest.session;
        if let Some(tombstone) = self.gateway.records_of(session).tombstone().await? {
            return Err(over(tombstone));
        }
        if let Renewed::Lost { epoch } = self.lease.renew().await? {
            self.open.has_epoch(epoch);
            return Err(Error::LeaseLost { session: session.clone() });
        }
        self.read_claims().await?;
        let workers = self.claims.values().filter(|claim| claim.refusal.is_none()).count();
        self.check_claimed(workers).await?;
        self.see_who_works(workers).await;
        self.queues.look().await?;
        let (waiting_for, resend) = (self.waiting_for(workers), self.queues.resend());
        Ok(Status { waiting_for, workers, failure: None, resend })
    }

    /// A claim stays, but a worker that refused may come back in a version that does not.
    async fn read_claims(&mut self) -> Result<(), Error> {
        let records = self.gateway.records_of(&self.open.manifest.session);
        for worker in records.claimants().await? {
            let is_known = self.claims.get(&worker).is_some_and(|claim| claim.refusal.is_none());
            if !is_known && let Some(claim) = records.claim(&worker).await? {
                self.claims.insert(worker, claim);
            }
        }
        Ok(())
    }

    async fn check_claimed(&mut self, workers: usize) -> Result<(), Error> {
        if workers > 0 {
            self.unclaimed_since = None;
        }
        let unclaimed_max = self.gateway.settings.unclaimed_max;
        match self.unclaimed_since {
            Some(since) if time::since(since) >= unclaimed_max => {
                let why = Error::Unclaimed { seconds: unclaimed_max.as_secs() };
                let tombstone =
                    Tombstone::of(&self.open.manifest, Some(Failure::of(&why)), wall_ms());
                Err(over(self.gateway.end_session(tombstone).await?))
            }
            _ => Ok(()),
        }
    }

    /// A claim outlives its worker. What does not is a subscription to the fragments.
    async fn see_who_works(&mut self, workers: usize) {
        let broker = &self.gateway.broker;
        if workers == 0 || broker.outage().is_some() {
            return;
        }
        let map = Queues { session: self.open.manifest.session.clone() }.map();
        let most = Duration::from_millis(limits::LEASE_RENEW_MS / 2);
        let looked = time::timeout(most, broker.has_consumer(&map)).await;
        let is_deserted = matches!(looked, Ok(Ok(false)));
        self.deserted_looks = if is_deserted { self.deserted_looks.saturating_add(1) } else { 0 };
    }

    /// In words, most important first.
    fn waiting_for(&self, workers: usize) -> Vec<String> {
        let outage = self.gateway.broker.outage().map(|outage| match outage {
            Outage::Unreachable => "no connection to the broker",
            Outage::Blocked => "the broker takes nothing: it is short of memory or disk",
        });
        let unclaimed = (workers == 0).then_some("no worker has claimed the session");
        // Once is nothing: it claims the session before it subscribes.
        let is_deserted = self.deserted_looks > 1;
        let deserted = is_deserted
            .then_some("no worker is at work: all that had claimed the session are gone");
        let held_back = (workers > 0 && !is_deserted && self.open.session.is_held_back())
            .then_some("the queue of fragments is full: workers are busy");
        let refusals = self.claims.values().filter_map(|claim| {
            let refusal = claim.refusal.as_ref()?;
            Some(format!("worker {} does not take part: {refusal}", claim.worker))
        });
        let reasons = outage
            .into_iter()
            .chain(unclaimed)
            .chain(deserted)
            .chain(held_back)
            .map(str::to_string);
        let long_works = self.open.long_works.words(time::now());
        let unserved = (workers > 0 && !is_deserted).then(|| self.queues.waiting_for()).flatten();
        reasons.chain(unserved).chain(refusals).chain(long_works).collect()
    }
}
