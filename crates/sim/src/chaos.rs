//! Lets things go wrong, for a while.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use caudal_broker::Broker;
use caudal_runtime::time::{now, sleep};
use caudal_worker::Counts;
use futures::FutureExt;

use crate::faults::Fault;
use crate::link::Link;
use crate::nodes::{Process, Role};
use crate::timeline::Why;
use crate::world::{World, extend};

/// The cluster of a seed.
pub struct Cluster {
    pub world: Arc<World>,
    pub processes: Vec<Process>,
    pub counts: Arc<Counts>,
    /// Times at which those that do not run are started again.
    due: BTreeMap<String, caudal_runtime::time::Instant>,
    workers: usize,
}

pub const WORKERS_MAX: usize = 20;

/// Workers that die or are lost in all: more could rightly be taken for the work of one fragment.
const LOSSES_MAX: usize = 9;

impl Cluster {
    pub fn start(world: &Arc<World>, workers: usize, gateways: usize) -> Self {
        let counts = Arc::new(Counts::default());
        let start = |role, count| {
            (0..count).map(move |number| (role, number)).collect::<Vec<(Role, usize)>>()
        };
        let all = [start(Role::Gateway, gateways), start(Role::Worker, workers)].concat();
        let start = |(role, number)| Process::start(world, role, number, &counts);
        let processes = all.into_iter().map(start).collect();
        let world = Arc::clone(world);
        Self { world, processes, counts, due: BTreeMap::new(), workers }
    }

    /// One thing after the other goes wrong, until the time is over.
    pub async fn inject_faults(&mut self, duration: Duration) {
        let end = now() + duration;
        let mut losses = 0;
        while now() < end {
            // Close together now and then, far apart at other times.
            let most_ms = [20, 300, 2000, 6000][fastrand::usize(..4)];
            sleep(Duration::from_millis(fastrand::u64(1..most_ms))).await;
            self.start_those_due();
            let enabled: Vec<Fault> = self.world.enabled().iter().copied().collect();
            let Some(fault) = fastrand::choice(enabled) else { continue };
            if is_loss(fault) {
                losses += 1;
            }
            if (!is_loss(fault) || losses <= LOSSES_MAX) && self.apply(fault) {
                self.world.count(fault);
            }
        }
    }

    /// Nothing goes wrong any more: what is dead is started again; what is cut off or frozen comes back
    /// in its own time.
    pub fn recover(&mut self) {
        self.world.calm_down();
        for process in self.processes.iter_mut().filter(|process| process.running.is_none()) {
            process.start_again(&self.counts);
        }
    }

    fn start_those_due(&mut self) {
        let now = now();
        for process in &mut self.processes {
            let is_due = self.due.get(&process.name).is_none_or(|due| *due <= now);
            if process.running.is_none() && is_due {
                process.start_again(&self.counts);
            }
        }
    }

    /// Whether it could be done.
    fn apply(&mut self, fault: Fault) -> bool {
        match fault {
            Fault::WorkerCrash => self.lose(Role::Worker, Process::crash),
            Fault::GatewayCrash => self.lose(Role::Gateway, Process::crash),
            Fault::WorkerLeave => self.lose(Role::Worker, Process::leave),
            Fault::GatewayLeave => self.lose(Role::Gateway, Process::leave),
            Fault::WorkerFreeze => self.freeze(Role::Worker),
            Fault::GatewayFreeze => self.freeze(Role::Gateway),
            Fault::WorkerJoin => self.join(),
            Fault::ConnectionLoss => self.upset(|link| link.lose_connection()),
            Fault::BrokerRestart => self.restart_broker(),
            Fault::QueueLoss => self.lose_queues(),
            Fault::BrokerPartition => self.upset(|link| link.cut_broker(some_time())),
            Fault::BrokerRefuse => self.upset(|link| link.refuse_broker(some_time())),
            Fault::StorePartition => self.upset(|link| link.cut_store(some_time())),
            // Longer than any call may take, now and then.
            Fault::StoreHang => self.upset(|link| link.hang_store(some_time() * 2)),
            Fault::StoreReadOnly => self.upset(|link| link.protect_store(some_time())),
            // It ends sessions, and hides what else becomes of them: not too often.
            Fault::StoreFull => fastrand::u32(..8) == 0 && self.fill_store(),
            Fault::StoreOutage => self.cut_store(),
            Fault::LineLoss => self.world.doors.cut_one(),
            // These happen to messages and calls, not to nodes; clients see to themselves.
            _ => false,
        }
    }

    /// One that runs, and is not frozen.
    fn pick(&mut self, role: Option<Role>) -> Option<&mut Process> {
        let is_up = |process: &&mut Process| {
            let running = process.running.as_ref();
            role.is_none_or(|role| role == process.role)
                && running.is_some_and(|running| !running.link.scope.is_frozen())
        };
        let up: Vec<&mut Process> = self.processes.iter_mut().filter(is_up).collect();
        fastrand::choice(up)
    }

    /// Does something to the network of one that runs.
    fn upset(&mut self, how: impl Fn(&Arc<Link>)) -> bool {
        let Some(process) = self.pick(None) else { return false };
        let Some(running) = &process.running else { return false };
        how(&running.link);
        true
    }

    fn lose(&mut self, role: Role, how: impl Fn(&mut Process)) -> bool {
        let Some(process) = self.pick(Some(role)) else { return false };
        how(process);
        let name = process.name.clone();
        let ms = [0, 50, 1000, 8000][fastrand::usize(..4)];
        self.due.insert(name, now() + Duration::from_millis(fastrand::u64(0..=ms)));
        true
    }

    fn freeze(&mut self, role: Role) -> bool {
        let Some(process) = self.pick(Some(role)) else { return false };
        process.freeze(some_time());
        true
    }

    fn join(&mut self) -> bool {
        if self.workers >= WORKERS_MAX {
            return false;
        }
        let process = Process::start(&self.world, Role::Worker, self.workers, &self.counts);
        self.processes.push(process);
        self.workers += 1;
        true
    }

    fn restart_broker(&self) -> bool {
        self.world.say("broker", format_args!("is restarted"));
        let away = Duration::from_millis(fastrand::u64(0..8000));
        for running in self.processes.iter().filter_map(|process| process.running.as_ref()) {
            running.link.cut_broker(away);
            running.link.lose_connection();
        }
        true
    }

    fn lose_queues(&self) -> bool {
        for _ in 0..fastrand::usize(1..4) {
            let Some(queue) = fastrand::choice(self.world.broker.queue_names()) else {
                return false;
            };
            self.world.say("broker", format_args!("forgets {queue}"));
            let _ = self.world.broker.delete(&queue).now_or_never();
        }
        self.restart_broker()
    }

    fn cut_store(&self) -> bool {
        let away = Duration::from_millis(fastrand::u64(100..70_000));
        self.world.say("store", format_args!("is away for {away:?}"));
        extend(&self.world.store_away_until, away);
        for running in self.processes.iter().filter_map(|process| process.running.as_ref()) {
            // Not to the same instant: some are back before others.
            running.link.cut_store(away + Duration::from_millis(fastrand::u64(0..4000)));
        }
        true
    }

    fn fill_store(&self) -> bool {
        let full = Duration::from_millis(fastrand::u64(10..5000));
        self.world.say("store", format_args!("is full for {full:?}"));
        self.world.fill_store(full);
        for running in self.processes.iter().filter_map(|process| process.running.as_ref()) {
            running.link.is_away(full, Why::NoWrites);
        }
        true
    }
}

fn is_loss(fault: Fault) -> bool {
    use Fault::{BrokerRestart, QueueLoss, WorkerCrash, WorkerFreeze};
    matches!(fault, WorkerCrash | WorkerFreeze | BrokerRestart | QueueLoss)
}

/// A moment, long enough for a takeover, or longer than the timeout of any session.
fn some_time() -> Duration {
    let most_ms = [200, 3000, 20_000, 60_000][fastrand::usize(..4)];
    Duration::from_millis(fastrand::u64(1..most_ms))
}
