//! One seed: a cluster, its sessions, what goes wrong, and whether all is as it should be in the end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use caudal_core::limits;
use caudal_runtime::failpoint::simulated::{set_knobs, set_mutant, take_hits};
use caudal_runtime::time::{sleep, timeout};
use caudal_runtime::{Scope, simulated};

use crate::blocking;
use crate::chaos::{Cluster, WORKERS_MAX};
use crate::client::{End, Session};
use crate::faults::{self, Counts, Fault};
use crate::link::WALL_SKEW_MS_MAX;
use crate::panics::{listen_to_panics, take_panics};
use crate::trace::Trace;
use crate::verdict;
use crate::workload::{self, Workload};
use crate::world::{World, lock};

/// The timeouts of the product that may pass before a session ends, once nothing goes wrong any more.
const SESSION_MAX: Duration = Duration::from_secs(900);

/// After that nothing is left: longer than the grace period of janitors and than the latest write is late.
const SETTLE: Duration = Duration::from_secs(150);

/// The clock on the wall when a simulation begins.
const WALL_MS: i64 = 1_700_000_000_000;

const STACK_BYTES: usize = 16 << 20;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A deliberate defect.
    pub mutant: Option<&'static str>,
    pub without: BTreeSet<Fault>,
    /// Keep what happened line by line.
    pub keep_lines: bool,
}

#[derive(Debug)]
pub struct Report {
    pub seed: u64,
    pub workload: String,
    pub ends: Vec<End>,
    /// Of each session that ended without an answer, its code and why that is right.
    pub excused: Vec<(String, String)>,
    /// Problems that were found.
    pub problems: Vec<String>,
    pub enabled: BTreeSet<Fault>,
    pub counts: Counts,
    pub trace: Trace,
    pub simulated: Duration,
}

/// Runs a seed, on a thread of its own.
pub fn run(seed: u64, options: &Options) -> Report {
    let setup = Setup::draw(seed);
    let options = options.clone();
    listen_to_panics();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let running = thread.spawn(move || setup.run(&options)).expect("a thread");
    running.join().expect("what panics is caught")
}

/// The setup of a seed. Plans and right answers are made before time is simulated.
struct Setup {
    seed: u64,
    enabled: BTreeSet<Fault>,
    workloads: Vec<Arc<Workload>>,
    shards: usize,
}

impl Setup {
    fn draw(seed: u64) -> Self {
        fastrand::seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xca0d);
        let enabled = faults::draw();
        let shards = [1, 2, 4][fastrand::usize(..3)];
        let sessions = [1, 1, 2, 3][fastrand::usize(..4)];
        let others = (1..sessions).map(|_| 20 * fastrand::u64(..5));
        // All is drawn before any is made: making them draws, too, and is done once.
        let numbers: Vec<u64> = std::iter::once(seed).chain(others).collect();
        let workloads: Vec<_> = numbers.into_iter().map(workload::of).collect();
        workloads.iter().for_each(|workload| workload.remember_plan(shards));
        Self { seed, enabled, workloads, shards }
    }

    fn run(self, options: &Options) -> Report {
        fastrand::seed(self.seed);
        set_mutant(options.mutant);
        // All or none: the length of encoded rows depends on their order, which DataFusion's hash sets
        // choose anew in every process.
        let inline_bytes = [0, 1 << 20][fastrand::usize(..2)];
        let linger_ms_max = [0, 100][fastrand::usize(..2)];
        let enabled: BTreeSet<_> = self.enabled.difference(&options.without).copied().collect();
        // Rarely, for it takes its time: a disk is a disk.
        let spills = fastrand::u32(..4) == 0 && enabled.contains(&Fault::Spill);
        let gathered_bytes = if spills { 2_000..=60_000 } else { 32 << 20..=32 << 20 };
        set_knobs([
            ("gathered_bytes", gathered_bytes),
            ("baton_renew_seconds", 8..=10),
            ("message_bytes", 400..=6000),
            ("output_fragment_rows", 1..=60),
            ("output_inline_bytes", inline_bytes..=inline_bytes),
            ("snapshot_records", 2..=8),
            ("record_linger_ms", 0..=linger_ms_max),
            ("early_rows_min", 1..=60),
            ("merge_rows_min", 1..=200),
            ("shard_queue_messages_max", 2..=12),
            ("map_queue_fragments_max", 1..=6),
        ]);
        let _clock = simulated::start(WALL_MS);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .on_thread_park(move || {
                if spills {
                    blocking::let_pass();
                }
                simulated::advance();
            })
            .build()
            .expect("a runtime");
        let world = World::new(self.seed, enabled, Trace::new(options.keep_lines));
        let (scope, overrun) = (world.scope.clone(), world.overrun.clone());
        let workload = self.workloads[0].name.clone();
        let seed = self.seed;
        let simulation = Simulation { world: Arc::clone(&world), setup: self };
        drop(take_hits());
        let Outcome { ends, excused, mut problems } = runtime.block_on(async move {
            if spills {
                blocking::let_pass();
            }
            tokio::select! {
                biased;
                () = simulated::stay_awake() => unreachable!("it never ends"),
                _ = overrun.above(0) => Outcome::broken("it goes round in circles".to_string()),
                // In a scope, as everything else: what it spawns by mistake is simulated, too.
                ended = scope.spawn(simulation.run()) => ended.unwrap_or_else(|died| {
                    Outcome::broken(format!("the simulation itself died: {died}"))
                }),
            }
        });
        blocking::open();
        problems.extend(take_panics());
        let spilled = take_hits().get("gather.spilled").copied().unwrap_or_default();
        world.set_count(Fault::Spill, spilled);
        let simulated = simulated::elapsed().unwrap_or_default();
        let (counts, enabled, trace) =
            (world.counts(), world.enabled().clone(), world.take_trace());
        Report { seed, workload, ends, excused, problems, enabled, counts, trace, simulated }
    }
}

/// What a seed came to.
#[derive(Default)]
struct Outcome {
    ends: Vec<End>,
    excused: Vec<(String, String)>,
    problems: Vec<String>,
}

impl Outcome {
    fn broken(problem: String) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }
}

struct Simulation {
    world: Arc<World>,
    setup: Setup,
}

impl Simulation {
    async fn run(self) -> Outcome {
        let world = &self.world;
        // Many now and then: all stand by for each shard.
        let workers_max = [3, 3, 3, WORKERS_MAX][fastrand::usize(..4)];
        let (workers, gateways) = (fastrand::usize(1..=workers_max), fastrand::usize(1..=3));
        let mut cluster = Cluster::start(world, workers, gateways);
        let names: Vec<String> = (0..gateways).map(|number| format!("gateway-{number}")).collect();
        let clients: Vec<(Scope, _)> = self
            .setup
            .workloads
            .iter()
            .enumerate()
            .map(|(number, workload)| {
                let session = self.session(number, workload, names.clone());
                let scope = Scope::default();
                let (world, start_ms) = (Arc::clone(world), fastrand::u64(0..4000));
                let living = scope.spawn(async move {
                    sleep(Duration::from_millis(start_ms)).await;
                    session.live(world).await
                });
                (scope, living)
            })
            .collect();
        for (scope, _) in &clients {
            self.vanish_perhaps(scope);
        }

        let seconds = [5, 20, 60, 100][fastrand::usize(..4)];
        cluster.inject_faults(Duration::from_secs(seconds)).await;
        cluster.recover();
        world.say("world", format_args!("nothing goes wrong any more"));

        let mut ends = vec![];
        for (scope, living) in clients {
            let end = match timeout(SESSION_MAX, living).await {
                Ok(Ok(end)) => end,
                Ok(Err(_)) if !scope.is_alive() => End::Vanished,
                Ok(Err(died)) => End::Wrong {
                    query: "client".to_string(),
                    difference: format!("it died: {died}"),
                },
                Err(_) => End::Hangs,
            };
            ends.push(end);
            scope.kill();
        }
        sleep(SETTLE).await;
        if !lock(&world.brought_back).is_empty() && !self.leftovers(&cluster).is_empty() {
            self.wait_for_the_sweep().await;
        }
        let mut outcome = self.judge(ends);
        outcome.problems.extend(self.leftovers(&cluster));
        outcome.problems.extend(lock(&world.violations).clone());
        outcome
    }

    fn session(&self, number: usize, workload: &Arc<Workload>, gateways: Vec<String>) -> Session {
        let ms = Duration::from_millis;
        let idle = match self.world.happens(Fault::ClientIdle, 0.2) {
            true => ms(fastrand::u64(60_000..400_000)),
            false => Duration::ZERO,
        };
        let is_on = |fault| self.world.enabled().contains(&fault) && fastrand::u32(..8) == 0;
        Session {
            name: format!("client-{number}"),
            workload: Arc::clone(workload),
            shards: self.setup.shards,
            gateways,
            think_ms_max: [0, 20, 300, 2000][fastrand::usize(..4)],
            idle,
            patience: is_on(Fault::ClientDeadline).then(|| ms(fastrand::u64(100..60_000))),
            cancelled_after: is_on(Fault::Cancel).then(|| ms(fastrand::u64(10..30_000))),
        }
    }

    fn vanish_perhaps(&self, scope: &Scope) {
        if !self.world.enabled().contains(&Fault::ClientVanish) || fastrand::u32(..3) > 0 {
            return;
        }
        let (world, scope) = (Arc::clone(&self.world), scope.clone());
        let after = Duration::from_millis(fastrand::u64(10..12_000));
        self.world.scope.spawn(async move {
            sleep(after).await;
            if scope.tasks() > 0 {
                world.say("world", format_args!("a client vanishes"));
                world.count(Fault::ClientVanish);
                scope.kill();
            }
        });
    }

    /// Which ends are problems, and what excuses those without an answer that are none.
    fn judge(&self, ends: Vec<End>) -> Outcome {
        let facts = lock(&self.world.facts);
        let (mut excused, mut problems) = (vec![], vec![]);
        for (number, end) in ends.iter().enumerate() {
            let excuse = match end {
                End::Answered { .. } | End::Vanished => continue,
                End::Coded { code, life, .. } => {
                    verdict::explain(*code, life, &facts).map(|why| (code.to_string(), why))
                }
                End::Wrong { .. } | End::Hangs => None,
            };
            match excuse {
                Some(excuse) => excused.push(excuse),
                None => problems.push(format!("client-{number}: {end:?}")),
            }
        }
        drop(facts);
        Outcome { ends, excused, problems }
    }

    /// Objects of an ended session that a gateway brought back are removed before its tombstone is.
    async fn wait_for_the_sweep(&self) {
        let skew = Duration::from_millis(2 * WALL_SKEW_MS_MAX as u64);
        let kept = Duration::from_secs(3600 * (limits::TOMBSTONE_HOURS as u64 + 1));
        simulated::skip_wall(kept + skew);
        sleep(Duration::from_secs(limits::TOMBSTONE_SWEEP_SECONDS) + SETTLE).await;
    }

    /// Nothing of a session remains: no queue, no object, no task.
    fn leftovers(&self, cluster: &Cluster) -> Vec<String> {
        let mut left: Vec<String> = vec![];
        let queues = self.world.broker.queue_names();
        left.extend(queues.into_iter().map(|queue| format!("queue {queue} is left")));
        let objects: Vec<String> = lock(&self.world.objects).keys().cloned().collect();
        let objects = objects.into_iter().filter(|name| !name.starts_with("closed/"));
        left.extend(objects.map(|name| format!("object {name} is left")));
        for process in &cluster.processes {
            let tasks = process.running.as_ref().map_or(0, |running| running.link.scope.tasks());
            if tasks > 1 {
                left.push(format!("{} tasks of {} are left", tasks - 1, process.name));
            }
        }
        left
    }
}
