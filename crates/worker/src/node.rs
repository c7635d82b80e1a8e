//! A process that works for every session of a cluster.
//!
//! Sessions are found in the store: when it starts, when one is announced, and every now and then,
//! because an announcement may be missed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use caudal_broker::{Broker, Listener, SessionEvent};
use caudal_core::{SessionId, limits};
use caudal_engine::{Engine, Memory};
use caudal_planner::SessionSpec;
use caudal_protocol::Queues;
use caudal_protocol::manifest::{Claim, Manifest};
use caudal_runtime::compute::Place;
use caudal_runtime::failpoint::knob;
use caudal_runtime::time::{self, interval, sleep, timeout};
use caudal_runtime::{Level, task};
use caudal_store::{SessionRecords, SessionState, Store, StoreError, sessions};
use tokio::sync::RwLock;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use crate::serve::back_off;
use crate::{AtWork, Counts, Durable, Worker};

/// A worker process of the cluster.
#[derive(Clone)]
pub struct Node {
    /// Unique among the workers that run at the same time.
    pub name: String,
    pub broker: Arc<dyn Broker>,
    pub store: Arc<dyn Store>,
    /// Fragments mapped at the same time.
    pub threads: usize,
    /// Of all sessions' joins, aggregates and sorts, before they spill.
    pub memory: Memory,
    pub counts: Arc<Counts>,
    pub at_work: Arc<AtWork>,
    /// Random: tells this process from those that had its name before.
    pub incarnation: u64,
}

impl Node {
    /// Works until `stop` is raised; then finishes what is in hand and leaves.
    pub async fn run(self, stop: Level) {
        let mut serving = Serving { node: self, stop: stop.clone(), sessions: BTreeMap::new() };
        let mut poll = interval(Duration::from_millis(limits::SESSIONS_POLL_MS));
        let mut listener = None;
        loop {
            tokio::select! {
                biased;
                _ = stop.above(0) => break,
                () = poll.tick() => {
                    serving.look_for_sessions().await;
                    serving.node.tell_long_work().await;
                }
                event = next_event(&mut listener, serving.node.broker.as_ref()) => serving.handle(event).await,
            }
        }
        serving.finish().await;
    }
}

/// The next event; none when some may have been missed.
async fn next_event(
    listener: &mut Option<Box<dyn Listener>>,
    broker: &dyn Broker,
) -> Option<SessionEvent> {
    let listening = match listener {
        Some(listening) => listening,
        None => match broker.listen().await {
            Ok(listening) => listener.insert(listening),
            Err(error) => {
                warn!(%error, "cannot listen to events");
                sleep(Duration::from_millis(limits::SESSIONS_POLL_MS)).await;
                return None;
            }
        },
    };
    match listening.next().await {
        Ok(event) => Some(event),
        Err(_) => {
            *listener = None;
            None
        }
    }
}

/// Says who serves the session, or why not, while that goes on. What the store does not take is said again, for as long as
/// it takes: a session that nobody has claimed is given up, also one that is being served.
async fn claimed(durable: &Durable, claim: Claim, serving: impl Future<Output = ()>) {
    let claiming = async {
        let mut failures = 0;
        while let Err(error) = durable.records.put_claim(&claim).await {
            warn!(session = %durable.session(), %error, "cannot claim the session");
            back_off(failures).await;
            failures += 1;
        }
        std::future::pending().await
    };
    tokio::select! {
        biased;
        () = claiming => {}
        () = serving => {}
    }
}

/// The sessions that are being served.
struct Serving {
    node: Node,
    stop: Level,
    sessions: BTreeMap<SessionId, JoinHandle<()>>,
}

impl Serving {
    async fn handle(&mut self, event: Option<SessionEvent>) {
        match event {
            Some(SessionEvent::Opened(session)) => self.start(session).await,
            // Its queues are gone or about to go: nothing of it is worth finishing.
            Some(SessionEvent::Closed(session)) => {
                if let Some(task) = self.sessions.remove(&session) {
                    task.abort();
                }
            }
            // Of interest to those who have a client that waits.
            Some(SessionEvent::Working(_)) => {}
            None => self.look_for_sessions().await,
        }
    }

    async fn look_for_sessions(&mut self) {
        self.sessions.retain(|_, task| !task.is_finished());
        self.end_what_is_over().await;
        match sessions(self.node.store.as_ref()).await {
            Ok(sessions) => {
                for session in sessions {
                    self.start(session).await;
                }
            }
            Err(error) => warn!(%error, "cannot list sessions"),
        }
    }

    /// The end of a session ends its work, whatever that is at, also where the event was missed.
    async fn end_what_is_over(&mut self) {
        for session in self.sessions.keys().cloned().collect::<Vec<_>>() {
            let records = SessionRecords::new(Arc::clone(&self.node.store), session.clone());
            match records.state().await {
                Ok(SessionState::Open) => {}
                Ok(SessionState::Over) => {
                    if let Some(task) = self.sessions.remove(&session) {
                        task.abort();
                    }
                }
                Err(error) => warn!(%session, %error, "cannot read the state of the session"),
            }
        }
    }

    async fn start(&mut self, session: SessionId) {
        if self.sessions.contains_key(&session) {
            return;
        }
        match self.node.durable(&session).await {
            Ok(Some(durable)) => {
                let (node, stop) = (self.node.clone(), self.stop.clone());
                let task = task::spawn(async move { node.serve(durable, stop).await });
                self.sessions.insert(session, task);
            }
            Ok(None) => {}
            Err(error) => warn!(%session, %error, "cannot read the session's manifest"),
        }
    }

    /// Every session has seen the sign to stop; what takes too long is left to others.
    async fn finish(self) {
        let all = futures::future::join_all(self.sessions.into_values());
        if timeout(Duration::from_millis(limits::LEAVE_MS), all).await.is_err() {
            info!("shut down with work unfinished");
        }
    }
}

impl Node {
    /// Clients that wait learn what for. A word that is lost is said again.
    async fn tell_long_work(&self) {
        for work in self.at_work.long(&self.name, time::now()) {
            info!(session = %work.session, what = work.what, seconds = work.seconds, "a long computation");
            // A broker that is away would keep this loop from all else.
            let telling = self.broker.announce(SessionEvent::Working(work));
            if timeout(Duration::from_millis(limits::LONG_WORK_TELL_MS), telling).await.is_err() {
                return;
            }
        }
    }

    /// The session's manifest with what goes with it, if the session is open.
    async fn durable(&self, session: &SessionId) -> Result<Option<Durable>, StoreError> {
        let records = SessionRecords::new(Arc::clone(&self.store), session.clone());
        let Some(manifest) = records.manifest().await? else { return Ok(None) };
        let durable = Durable {
            records,
            manifest: Arc::new(manifest),
            worker: self.name.clone(),
            incarnation: self.incarnation,
            spread_ms: limits::SHARD_SPREAD_MS,
            linger_ms: knob("record_linger_ms", limits::RECORD_LINGER_MS as usize) as u64,
        };
        let open = durable.records.state().await? == SessionState::Open;
        Ok(open.then_some(durable))
    }

    async fn serve(self, durable: Durable, stop: Level) {
        let session = durable.session().clone();
        let planned = self.plan(&durable.manifest).await;
        let claim = Claim { worker: self.name.clone(), refusal: planned.as_ref().err().cloned() };
        let engine = match planned {
            Ok(engine) => engine,
            Err(reason) => {
                warn!(%session, reason, "session refused");
                // Until the session is over: looking again would change nothing.
                return claimed(&durable, claim, durable.wait_until_over()).await;
            }
        };
        info!(%session, "serving session");
        let worker = Worker {
            broker: Arc::clone(&self.broker),
            engine: Arc::new(engine),
            queues: Queues { session: session.clone() },
            map_tasks: self.threads,
            counts: Arc::clone(&self.counts),
            at_work: Arc::clone(&self.at_work),
            durable: Some(durable.clone()),
            stop,
            place: Place::Apart,
            alone: Arc::new(RwLock::new(())),
            failed: Arc::default(),
        };
        let serving = async {
            match worker.run().await {
                Ok(()) => info!(%session, "session served"),
                Err(error) => warn!(%session, %error, "stopped serving session"),
            }
        };
        claimed(&durable, claim, serving).await;
    }

    /// The same plan as everybody's, or why it is not.
    async fn plan(&self, manifest: &Manifest) -> Result<Engine, String> {
        let version = env!("CARGO_PKG_VERSION");
        if manifest.version != version {
            return Err(format!("the session is of version {}, not {version}", manifest.version));
        }
        let spec = SessionSpec::try_from(manifest).map_err(|error| error.to_string())?;
        let (expected, memory) = (manifest.fingerprint.clone(), self.memory.clone());
        // Long enough, for some, that a loop which waited for it would be taken for stuck.
        let planning = task::compute_async(limits::PLANNING_STACK_BYTES, async move {
            let plan = caudal_planner::plan(&spec).await.map_err(|error| error.to_string())?;
            let fingerprint = format!("{:032x}", plan.fingerprint);
            if fingerprint != expected {
                return Err(format!("its plan is {fingerprint}, not {expected}"));
            }
            Ok(Engine::new(Arc::new(plan), &memory))
        });
        planning.await.map_err(|died| died.to_string())?
    }
}
