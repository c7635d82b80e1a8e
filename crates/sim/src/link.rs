//! A node's side of the network: what it reaches, and what it does not reach for a while.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal_runtime::time::{Instant, now, sleep, sleep_until};
use caudal_runtime::{Level, Scope};

use crate::consumer::Channel;
use crate::faults::Fault;
use crate::timeline::Why;
use crate::world::{HEARTBEAT, World, elapsed, extend, is_ahead, left, lock};

/// How far a node's clock on the wall is off at most: less than tombstones are kept.
pub const WALL_SKEW_MS_MAX: i64 = 8 * 3_600_000;

/// A node's side of the network. A process that is started again has another one.
pub struct Link {
    pub name: String,
    pub world: Arc<World>,
    pub scope: Scope,
    /// Raised with each lost connection to the broker.
    pub lost: Level,
    connection: AtomicU64,
    /// Of this connection, by their numbers.
    pub channels: Mutex<BTreeMap<u64, Arc<Channel>>>,
    broker_cut_until: Mutex<Option<Instant>>,
    broker_refused_until: Mutex<Option<Instant>>,
    store_cut_until: Mutex<Option<Instant>>,
    store_hung_until: Mutex<Option<Instant>>,
    store_read_only_until: Mutex<Option<Instant>>,
    store_failures: AtomicU64,
    /// Its machine is gone: nobody is told.
    pub is_silent: AtomicBool,
}

impl Link {
    pub fn new(world: &Arc<World>, name: &str) -> Arc<Self> {
        let link = Arc::new(Self {
            name: name.to_string(),
            world: Arc::clone(world),
            scope: Scope::default(),
            lost: Level::default(),
            connection: AtomicU64::new(world.new_connection()),
            channels: Mutex::default(),
            broker_cut_until: Mutex::default(),
            broker_refused_until: Mutex::default(),
            store_cut_until: Mutex::default(),
            store_hung_until: Mutex::default(),
            store_read_only_until: Mutex::default(),
            store_failures: AtomicU64::new(0),
            is_silent: AtomicBool::new(false),
        });
        lock(&world.facts).timeline(name).starts(name, elapsed());
        // Who starts while the store is away does not find it, either.
        let until = *lock(&world.store_away_until);
        if let Some(until) = until.filter(|until| *until > now()) {
            link.cut_store(until - now());
        }
        if world.happens(Fault::ClockSkew, 0.7) {
            let most_ms = [1000, 60_000, WALL_SKEW_MS_MAX][fastrand::usize(..3)];
            link.scope.set_wall_ahead_ms(fastrand::i64(-most_ms..=most_ms));
        }
        link
    }

    pub fn connection(&self) -> u64 {
        self.connection.load(Ordering::Relaxed)
    }

    /// The connection to the broker breaks: what was on its way is lost, what was not acknowledged
    /// comes again, to anybody.
    pub fn lose_connection(&self) {
        self.world.say(&self.name, format_args!("loses its connection to the broker"));
        self.connection.store(self.world.new_connection(), Ordering::Relaxed);
        let channels: Vec<_> = lock(&self.channels).values().cloned().collect();
        channels.iter().for_each(|channel| self.lose_channel(channel));
        self.lost.raise();
    }

    /// The same for one of its channels.
    pub fn lose_channel(&self, channel: &Channel) {
        if lock(&self.channels).remove(&channel.id).is_some() {
            self.world.count_lost(channel);
            self.world.broker.lose_connection(channel.id);
        }
    }

    /// The node cannot be used for a while.
    pub fn is_away(&self, duration: Duration, why: Why) {
        let time = elapsed()..elapsed() + duration;
        lock(&self.world.facts).timeline(&self.name).is_away(&self.name, time, why);
    }

    /// The broker cannot be reached for a while; if that is long, the connection is lost.
    pub fn cut_broker(self: &Arc<Self>, duration: Duration) {
        extend(&self.broker_cut_until, duration);
        self.is_away(duration, Why::NoBroker);
        if duration > HEARTBEAT {
            self.lose_connection_later();
        }
    }

    /// The connection is lost, and the broker lets this node not in again for a while.
    pub fn refuse_broker(&self, duration: Duration) {
        extend(&self.broker_refused_until, duration);
        self.is_away(duration, Why::NoBroker);
        self.lose_connection();
    }

    pub fn cut_store(&self, duration: Duration) {
        extend(&self.store_cut_until, duration);
        self.is_away(duration, Why::NoStore);
    }

    /// The store does not answer.
    pub fn hang_store(&self, duration: Duration) {
        extend(&self.store_hung_until, duration);
        self.is_away(duration, Why::NoStore);
    }

    /// The store lets this node not write.
    pub fn protect_store(&self, duration: Duration) {
        extend(&self.store_read_only_until, duration);
        self.is_away(duration, Why::NoWrites);
    }

    /// Loses the connection as both ends do on which they hear nothing.
    pub fn lose_connection_later(self: &Arc<Self>) {
        let link = Arc::clone(self);
        self.world.scope.spawn(async move {
            sleep(HEARTBEAT).await;
            if link.is_broker_cut() || link.scope.is_frozen() {
                link.lose_connection();
            }
        });
    }

    pub fn is_broker_cut(&self) -> bool {
        is_ahead(&self.broker_cut_until)
    }

    pub fn is_broker_refused(&self) -> bool {
        is_ahead(&self.broker_refused_until)
    }

    pub fn is_store_read_only(&self) -> bool {
        is_ahead(&self.store_read_only_until)
    }

    pub async fn until_broker_reachable(&self) {
        let until = *lock(&self.broker_cut_until);
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }

    /// The time for which the store will not be reached.
    pub fn store_cut(&self) -> Option<Duration> {
        left(&self.store_cut_until)
    }

    /// The time for which the store will not answer.
    pub fn store_hung(&self) -> Option<Duration> {
        left(&self.store_hung_until)
    }

    /// Calls to the store that have failed so far.
    pub fn store_failures(&self) -> u64 {
        self.store_failures.load(Ordering::Relaxed)
    }

    pub fn count_store_failure(&self) {
        self.store_failures.fetch_add(1, Ordering::Relaxed);
    }
}
