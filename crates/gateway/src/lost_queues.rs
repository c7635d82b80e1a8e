//! Queues that the broker has lost, as a RabbitMQ does that is killed right after it has made them, are made again.
//!
//! What was in them is lost as well, and nobody has a list of it. But it all came from somewhere, with identities by which
//! whoever has seen it drops it: outputs of shards are committed, and their owners publish them again; all else was made of
//! tables, which the client sends again, from the first fragment to the end. So nothing has to be known but that something
//! was lost, and that is written down before the first queue is there again: whichever gateway has the client from then on
//! asks for it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::{Failure, ShardId, limits};
use caudal_protocol::manifest::Tombstone;
use caudal_runtime::time::{self, Instant, sleep, timeout, wall_ms};
use futures::stream::{self, StreamExt};
use tracing::{info, warn};

use crate::gateway::over;
use crate::open_sessions::OpenSession;
use crate::{Error, Gateway};

/// Sees to the queues of a session, for the gateway that has its client.
pub struct QueueKeeper {
    gateway: Arc<Gateway>,
    open: Arc<OpenSession>,
    /// Whether the client can send its tables again.
    can_resend: bool,
    /// How often queues were lost, as far as is known.
    losses: u32,
    /// Of these losses, those after which all is as it was, but for what the client has to send.
    restored: u32,
    /// Queues that are lost, as is written down, and not made again yet.
    lost: Vec<String>,
    /// Shards that have yet to be asked, after the last of these losses, to publish again.
    unasked: BTreeSet<ShardId>,
    looked: Option<Instant>,
    /// The missing queues that others had met at the last look.
    met: u64,
    /// The shards that nobody served, at the last look and at the one before.
    deserted: [Vec<ShardId>; 2],
}

impl QueueKeeper {
    /// For a client that has just attached. One that does for the first time has its queues from `open`.
    pub async fn new(
        gateway: Arc<Gateway>,
        open: Arc<OpenSession>,
        can_resend: bool,
        is_first: bool,
    ) -> Result<Self, Error> {
        let losses = gateway.records_of(&open.manifest.session).resends().await?;
        let looked = is_first.then(time::now);
        // Whoever had the client before may have died before it had restored what was lost.
        let unasked = open.session.outline.shard_ids().collect();
        Ok(Self {
            gateway,
            open,
            can_resend,
            losses,
            restored: 0,
            lost: vec![],
            unasked,
            looked,
            met: 0,
            deserted: Default::default(),
        })
    }

    /// How often the client has to have sent its tables again.
    pub fn resend(&self) -> u32 {
        self.restored
    }

    /// What the session waits for, in words.
    pub fn waiting_for(&self) -> Option<String> {
        let [now, before] = &self.deserted;
        let shards = now.iter().filter(|shard| before.contains(shard));
        let shards: Vec<_> = shards.map(|shard| shard.0.to_string()).collect();
        (!shards.is_empty()).then(|| format!("no worker serves shard {}", shards.join(", ")))
    }

    /// Looks, every now and then or when somebody has missed a queue, and does what is to be done.
    pub async fn look(&mut self) -> Result<(), Error> {
        if self.gateway.broker.outage().is_some() {
            return Ok(());
        }
        let is_due = |looked| time::since(looked) >= Duration::from_millis(limits::QUEUES_LOOK_MS);
        let met = self.open.queues_missed.get();
        if met > self.met || self.looked.is_none_or(is_due) {
            self.look_at_queues(met).await?;
        }
        if self.restored < self.losses {
            self.restore().await?;
        }
        Ok(())
    }

    /// A broker that does not answer in time is looked at again.
    async fn look_at_queues(&mut self, met: u64) -> Result<(), Error> {
        let most = Duration::from_millis(limits::LEASE_RENEW_MS);
        let Ok(Ok(seen)) = timeout(most, self.open.session.look_at_queues()).await else {
            return Ok(());
        };
        let records = self.gateway.records_of(&self.open.manifest.session);
        // The end of a session is the end of its queues.
        if let Some(tombstone) = records.tombstone().await? {
            return Err(over(tombstone));
        }
        // One that this gateway knows to be lost and has not come to make again is no further loss: nobody has been asked to
        // send again for it.
        if let Some(queue) = seen.missing.iter().find(|queue| !self.lost.contains(queue)) {
            warn!(session = %self.open.manifest.session, queue, losses = self.losses, "queue lost");
            if !self.can_resend || self.losses >= limits::RESENDS_MAX {
                let why = Failure::of(&Error::LostQueue { queue: queue.clone() });
                let tombstone = Tombstone::of(&self.open.manifest, Some(why), wall_ms());
                return Err(over(self.gateway.end_session(tombstone).await?));
            }
            records.create_resend(self.losses).await?;
        }
        // After the look: another gateway may have made the queue that was missing, and had written it down before.
        let losses = records.resends().await?;
        if losses > self.losses {
            self.unasked = self.open.session.outline.shard_ids().collect();
        }
        (self.losses, self.lost) = (losses, seen.missing);
        self.deserted.rotate_right(1);
        self.deserted[0] = seen.deserted;
        (self.looked, self.met) = (Some(time::now()), met);
        Ok(())
    }

    async fn restore(&mut self) -> Result<(), Error> {
        let most = Duration::from_millis(2 * limits::LEASE_RENEW_MS);
        let restored = timeout(most, self.make_and_ask()).await;
        let session = &self.open.manifest.session;
        match restored {
            Ok(Ok(())) => {
                info!(%session, losses = self.losses, "queues are made again");
                self.restored = self.losses;
            }
            Ok(Err(error)) => warn!(%session, %error, "cannot make queues again, trying later"),
            Err(_) => warn!(%session, "cannot make queues again in time, trying later"),
        }
        // The session may have been closed meanwhile.
        self.gateway.check_still_open(&self.gateway.records_of(session)).await
    }

    /// What has been done of it is not done once more where there is no time for all: every shard that is asked publishes
    /// everything again, and the queues that are waited for are filled by that.
    async fn make_and_ask(&mut self) -> Result<(), caudal_broker::Error> {
        let open = Arc::clone(&self.open);
        open.session.make_lost_queues(&self.lost, limits::CLUSTER_MAP_THREADS).await?;
        self.lost.clear();
        let ask = |shard| {
            let session = &open.session;
            async move { session.ask_to_republish(shard).await.map(|()| shard) }
        };
        let mut asked =
            stream::iter(self.unasked.clone()).map(ask).buffer_unordered(limits::SHARDS_MAX);
        while let Some(shard) = asked.next().await {
            self.unasked.remove(&shard?);
        }
        Ok(())
    }
}

impl Gateway {
    /// Does something with a queue of a session. One that is missing is waited for, as long as somebody may make it again.
    pub(crate) async fn with_queue<T, A>(
        &self,
        open: &OpenSession,
        attempt: impl Fn() -> A,
    ) -> Result<T, Error>
    where
        A: Future<Output = Result<T, caudal_broker::Error>>,
    {
        let most = Duration::from_millis(2 * limits::QUEUES_LOOK_MS);
        let started = time::now();
        loop {
            let queue = match attempt().await {
                Err(caudal_broker::Error::NoQueue { queue }) => queue,
                done => return Ok(done?),
            };
            let error = self.queue_is_gone(open, queue).await;
            if !matches!(error, Error::QueueMissing { .. }) || time::since(started) >= most {
                return Err(error);
            }
            open.queues_missed.raise();
            tokio::select! {
                biased;
                leaving = self.left() => return Err(leaving),
                () = sleep(Duration::from_millis(limits::RESUBSCRIBE_MS)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_broker::{Broker, MemoryBroker};
    use caudal_core::QueryId;
    use caudal_protocol::Queues;
    use caudal_protocol::calls::OpenRequest;
    use caudal_protocol::manifest::QuerySpec;

    use super::*;
    use crate::{Owner, Settings};

    #[tokio::test]
    async fn a_queue_that_nobody_has_missed_yet_is_not_made_with_the_others() {
        let broker = Arc::new(MemoryBroker::default());
        let store = caudal_store::open("memory:").unwrap();
        let settings = Settings::new("one", "127.0.0.1:0".parse().unwrap());
        let gateway = Arc::new(Gateway::new(settings, Arc::new(Arc::clone(&broker)), store));
        let query = QuerySpec { name: "q".into(), sql: "SELECT 1".into(), params: vec![] };
        let (nonce, owner) = ("0".repeat(32), Owner::of_token(""));
        let request = OpenRequest { nonce, tables: vec![], queries: vec![query], shards: None };
        let session = gateway.open(&owner, request).await.unwrap().session;
        let open = gateway.find(&owner, &session).await.unwrap();
        let keeper = async |has_looked: bool| {
            let (gateway, open) = (Arc::clone(&gateway), Arc::clone(&open));
            QueueKeeper::new(gateway, open, true, has_looked).await.unwrap()
        };
        let queues = Queues { session };
        let (map, result) = (queues.map(), queues.result(QueryId(0)));
        let is_there = |queue: &String| broker.queue_names().contains(queue);

        let mut first = keeper(false).await;
        broker.delete(&map).await.unwrap();
        first.look().await.unwrap();
        assert_eq!((first.resend(), is_there(&map)), (1, true));

        // Its client comes back, and has done what was asked for that loss, when there is another.
        let mut second = keeper(true).await;
        broker.delete(&result).await.unwrap();
        second.look().await.unwrap();
        assert_eq!((second.resend(), is_there(&result)), (1, false));
        second.looked = None;
        second.look().await.unwrap();
        assert_eq!((second.resend(), is_there(&result)), (2, true));
    }
}
