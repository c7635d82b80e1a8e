//! The world of all nodes: the broker, the store, the network between them, and what goes wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use caudal_broker::{Faults, MemoryBroker};
use caudal_runtime::time::{Instant, now, sleep};
use caudal_runtime::{Level, Scope, simulated};

use crate::consumer::Channel;
use crate::faults::{Counts, Fault};
use crate::line::Doors;
use crate::link::Link;
use crate::trace::Trace;
use crate::verdict::Facts;

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
    pub bounds: Bounds,
    /// What ends without an answer is judged by.
    pub facts: Mutex<Facts>,
    /// Retry markers: whose each is, and what trouble that one had had before.
    pub markers: Mutex<BTreeMap<String, (Weak<Link>, u64)>>,
    /// Until when nobody reaches the store.
    pub store_away_until: Mutex<Option<Instant>>,
    /// Until when it takes nothing.
    store_full_until: Mutex<Option<Instant>>,
    /// Violations: what must never happen, and did.
    pub violations: Mutex<Vec<String>>,
    /// Raised when more happens than a seed can be about: it goes round in circles.
    pub overrun: Level,
}

/// Far more than happens in any seed.
const EVENTS_MAX: u64 = 600_000;

/// Bounds of a seed's broker and gateways.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// How long a consumer may keep a delivery.
    pub consumer_timeout: Option<Duration>,
    /// Channels of a connection, as long as things go wrong.
    pub channels_max: Option<usize>,
    /// How long a session may be open.
    pub session_max: Option<Duration>,
}

impl Bounds {
    /// For batons that are renewed every ten seconds: three times that, as in a real cluster.
    const CONSUMER_TIMEOUT: Duration = Duration::from_secs(30);

    pub fn draw(enabled: &BTreeSet<Fault>) -> Self {
        let is_on = |fault| enabled.contains(&fault);
        let (channels, session) = (fastrand::usize(4..=12), fastrand::u64(20..=90));
        Self {
            consumer_timeout: is_on(Fault::ConsumerTimeout).then_some(Self::CONSUMER_TIMEOUT),
            channels_max: is_on(Fault::ChannelLimit).then_some(channels),
            // It ends sessions, and hides what else becomes of them: not too often.
            session_max: (is_on(Fault::SessionLimit) && fastrand::u32(..6) == 0)
                .then(|| Duration::from_secs(session)),
        }
    }
}

impl World {
    pub fn new(seed: u64, enabled: BTreeSet<Fault>, trace: Trace) -> Arc<Self> {
        let is_on = |fault| enabled.contains(&fault);
        let faults = Faults {
            duplicate: if is_on(Fault::Duplicate) { 0.05 } else { 0.0 },
            reorder: is_on(Fault::Reorder),
        };
        let bounds = Bounds::draw(&enabled);
        let facts = Facts { session_max: bounds.session_max, ..Facts::default() };
        Arc::new(Self {
            bounds,
            facts: Mutex::new(facts),
            markers: Mutex::default(),
            store_full_until: Mutex::default(),
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

    pub fn set_count(&self, fault: Fault, count: u64) {
        lock(&self.counts).insert(fault, count);
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

    pub fn new_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    /// The owner of a shard has lost it, whoever is to blame.
    pub fn count_lost(&self, channel: &Channel) {
        if channel.is_owner() {
            *lock(&self.facts).owners_lost.entry(channel.queue.clone()).or_default() += 1;
        }
    }

    /// The store takes nothing for a while.
    pub fn fill_store(&self, duration: Duration) {
        extend(&self.store_full_until, duration);
        lock(&self.facts).full.push(elapsed()..elapsed() + duration);
    }

    pub fn is_store_full(&self) -> bool {
        is_ahead(&self.store_full_until)
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

/// The simulated time that has passed.
pub fn elapsed() -> Duration {
    simulated::elapsed().unwrap_or_default()
}

pub fn is_ahead(until: &Mutex<Option<Instant>>) -> bool {
    left(until).is_some()
}

pub fn left(until: &Mutex<Option<Instant>>) -> Option<Duration> {
    let until = (*lock(until))?;
    Some(until.saturating_duration_since(now())).filter(|left| !left.is_zero())
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
