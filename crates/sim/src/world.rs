//! The world of all nodes: the broker, the store, the network between them, and what goes wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use caudal_broker::{Faults, MemoryBroker};
use caudal_runtime::time::{Instant, now, sleep, sleep_until};
use caudal_runtime::{Level, Scope};

use crate::faults::{Counts, Fault};
use crate::line::Doors;
use crate::trace::Trace;

/// A connection on which nothing is heard for so long is taken for dead, by both ends.
pub const HEARTBEAT: Duration = Duration::from_secs(10);

pub struct World {
    enabled: BTreeSet<Fault>,
    is_calm: AtomicBool,
    counts: Mutex<Counts>,
    trace: Mutex<Trace>,
    pub broker: Arc<MemoryBroker>,
    pub objects: Mutex<BTreeMap<String, Bytes>>,
    /// Tasks of what is on its way, and of what belongs to no node.
    pub scope: Scope,
    pub doors: Doors,
    connections: AtomicU64,
    /// Queues that a gateway made after the end of their session, because it did not know of it.
    pub brought_back: Mutex<BTreeSet<String>>,
    /// Times that a gateway could not be reached, or not reach the broker, for longer than a client takes to
    /// notice.
    pub long_cuts: AtomicU64,
    /// Until when nobody reaches the store.
    pub store_away_until: Mutex<Option<Instant>>,
    /// Violations: what must never happen, and did.
    pub violations: Mutex<Vec<String>>,
    /// Raised when more happens than a seed can be about: it goes round in circles.
    pub overrun: Level,
}

/// Far more than happens in any seed.
const EVENTS_MAX: u64 = 300_000;

impl World {
    pub fn new(seed: u64, enabled: BTreeSet<Fault>, trace: Trace) -> Arc<Self> {
        let is_on = |fault| enabled.contains(&fault);
        let faults = Faults {
            duplicate: if is_on(Fault::Duplicate) { 0.05 } else { 0.0 },
            reorder: is_on(Fault::Reorder),
        };
        Arc::new(Self {
            broker: Arc::new(MemoryBroker::with_faults(faults, seed)),
            enabled,
            is_calm: AtomicBool::new(false),
            counts: Mutex::default(),
            trace: Mutex::new(trace),
            objects: Mutex::default(),
            scope: Scope::default(),
            doors: Doors::default(),
            connections: AtomicU64::new(1),
            brought_back: Mutex::default(),
            long_cuts: AtomicU64::new(0),
            store_away_until: Mutex::default(),
            violations: Mutex::default(),
            overrun: Level::default(),
        })
    }

    pub fn enabled(&self) -> &BTreeSet<Fault> {
        &self.enabled
    }

    /// From here on nothing goes wrong any more.
    pub fn calm_down(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    pub fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    /// Draws whether a fault happens now.
    pub fn happens(&self, fault: Fault, chance: f64) -> bool {
        let happens = self.enabled.contains(&fault) && !self.is_calm() && fastrand::f64() < chance;
        if happens {
            self.count(fault);
        }
        happens
    }

    pub fn count(&self, fault: Fault) {
        *lock(&self.counts).entry(fault).or_default() += 1;
    }

    /// The number of times that each fault has happened.
    pub fn counts(&self) -> Counts {
        let mut counts = lock(&self.counts).clone();
        let of_broker = &self.broker.counts;
        counts.insert(Fault::Duplicate, of_broker.duplicated.load(Ordering::Relaxed));
        counts.insert(Fault::Reorder, of_broker.reordered.load(Ordering::Relaxed));
        counts
    }

    pub fn say(&self, who: &str, what: std::fmt::Arguments<'_>) {
        let mut trace = lock(&self.trace);
        trace.say(who, what);
        if trace.events > EVENTS_MAX {
            self.overrun.raise_to(1);
        }
    }

    pub fn take_trace(&self) -> Trace {
        std::mem::take(&mut *lock(&self.trace))
    }

    /// The latency of a message: none, most often.
    pub async fn travel(&self) {
        let ms = match fastrand::u32(..16) {
            0..8 => return tokio::task::yield_now().await,
            8..14 => fastrand::u64(1..4),
            14 => fastrand::u64(4..30),
            _ => fastrand::u64(30..200),
        };
        sleep(Duration::from_millis(ms)).await;
    }
}

/// A node's side of the network. A process that is started again has another one.
pub struct Link {
    pub name: String,
    pub world: Arc<World>,
    pub scope: Scope,
    /// Raised with each lost connection to the broker.
    pub lost: Level,
    connection: AtomicU64,
    broker_cut_until: Mutex<Option<Instant>>,
    store_cut_until: Mutex<Option<Instant>>,
    /// Its machine is gone: nobody is told.
    pub is_silent: AtomicBool,
}

impl Link {
    pub fn new(world: &Arc<World>, name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_string(),
            world: Arc::clone(world),
            scope: Scope::default(),
            lost: Level::default(),
            connection: AtomicU64::new(world.connections.fetch_add(1, Ordering::Relaxed)),
            broker_cut_until: Mutex::default(),
            // Who starts while the store is away does not find it, either.
            store_cut_until: Mutex::new(*lock(&world.store_away_until)),
            is_silent: AtomicBool::new(false),
        })
    }

    pub fn connection(&self) -> u64 {
        self.connection.load(Ordering::Relaxed)
    }

    /// The connection to the broker breaks: what was on its way is lost, what was not acknowledged
    /// comes again, to anybody.
    pub fn lose_connection(&self) {
        self.world.say(&self.name, format_args!("loses its connection to the broker"));
        let next = self.world.connections.fetch_add(1, Ordering::Relaxed);
        let lost = self.connection.swap(next, Ordering::Relaxed);
        self.world.broker.lose_connection(lost);
        self.lost.raise();
    }

    /// The broker cannot be reached for a while; if that is long, the connection is lost.
    pub fn cut_broker(self: &Arc<Self>, duration: Duration) {
        extend(&self.broker_cut_until, duration);
        if duration > HEARTBEAT {
            self.count_long_cut();
            self.lose_connection_later();
        }
    }

    pub fn count_long_cut(&self) {
        if self.name.starts_with("gateway") {
            self.world.long_cuts.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn cut_store(&self, duration: Duration) {
        extend(&self.store_cut_until, duration);
    }

    /// Loses the connection as both ends do on which they hear nothing.
    pub fn lose_connection_later(self: &Arc<Self>) {
        let link = Arc::clone(self);
        self.world.scope.spawn(async move {
            sleep(HEARTBEAT).await;
            let is_cut = lock(&link.broker_cut_until).is_some_and(|until| until > now());
            if is_cut || link.scope.is_frozen() {
                link.lose_connection();
            }
        });
    }

    pub fn is_broker_cut(&self) -> bool {
        lock(&self.broker_cut_until).is_some_and(|until| until > now())
    }

    pub async fn until_broker_reachable(&self) {
        let until = *lock(&self.broker_cut_until);
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }

    /// The time for which the store will not be reached.
    pub fn store_cut(&self) -> Option<Duration> {
        let until = (*lock(&self.store_cut_until))?;
        Some(until.saturating_duration_since(now())).filter(|left| !left.is_zero())
    }
}

/// A cut does not end earlier because there is another one.
pub fn extend(cut_until: &Mutex<Option<Instant>>, duration: Duration) {
    let mut cut_until = lock(cut_until);
    *cut_until = (*cut_until).max(Some(now() + duration));
}

/// A lock that a panicking holder has left is still a lock: every change under it is one step.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
