//! Workers that are lost at any await point, their shards taken over by others: answers stay exact.
//!
//! Several workers share a memory broker and a store, as the processes of a cluster do. One of them is
//! aborted every few milliseconds and another one started. Every run has to show takeovers,
//! redeliveries and duplicates.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caudal::Error;
use caudal::local::InProcess;
use caudal_broker::{Broker, Faults, MemoryBroker};
use caudal_client::{Event, UploadCounters};
use caudal_core::SessionId;
use caudal_engine::{Engine, Memory};
use caudal_gateway::Session;
use caudal_planner::SessionPlan;
use caudal_protocol::manifest::Manifest;
use caudal_protocol::{Objects, Queues};
use caudal_store::{SessionRecords, Store};
use caudal_testing::Seeds;
use caudal_worker::{Counts, Durable, Worker};
use fastrand::Rng;
use tokio::task::JoinHandle;

use crate::harness::{Answer, Run, Table, upload};
use crate::slow_store::SlowStore;
use crate::workload::Workload;

const SEEDS: u64 = 25;
const WORKERS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_do_not_depend_on_who_dies() {
    let counts = Arc::new(Counts::default());
    let seeds = Seeds::of(SEEDS);
    let mut killed = 0;
    for seed in seeds.range() {
        let mut rng = Rng::with_seed(7000 + seed);
        let Some(workload) = Workload::random(&mut rng).await else { continue };
        let sql = workload.sql();
        let run = Run::new(&workload.tables, &sql, rng.usize(1..4));
        let plan = run.plan().await.unwrap();
        let cluster = Cluster::new(plan, seed, &counts);
        let limit = Duration::from_secs(60);
        let (answers, kills) =
            tokio::time::timeout(limit, cluster.answer(&workload.tables, &mut rng))
                .await
                .unwrap_or_else(|_| panic!("it hangs: CAUDAL_SEED={seed}\n{sql:#?}"));
        killed += kills;
        workload.check(answers, seed).await;
    }
    println!("{killed} workers killed, {counts:?}");
    if !seeds.suffice() {
        return;
    }
    let happened = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed) > 0;
    assert!(killed > seeds.range().count(), "nobody was killed");
    assert!(happened(&counts.takeovers), "no shard was taken over");
    assert!(happened(&counts.redelivered) && happened(&counts.duplicates), "nothing came twice");
}

/// The workers of one session, as tasks.
pub struct Cluster {
    pub plan: Arc<SessionPlan>,
    pub broker: Arc<MemoryBroker>,
    pub store: Arc<dyn Store>,
    pub counts: Arc<Counts>,
    pub id: SessionId,
}

impl Cluster {
    fn new(plan: Arc<SessionPlan>, seed: u64, counts: &Arc<Counts>) -> Self {
        let faults = Faults { duplicate: 0.1, reorder: true };
        Self {
            plan,
            broker: Arc::new(MemoryBroker::with_faults(faults, seed)),
            store: Arc::new(SlowStore(caudal_store::open("memory:").unwrap())),
            counts: Arc::clone(counts),
            id: SessionId(format!("takeover-{seed}")),
        }
    }

    fn broker(&self) -> Arc<dyn Broker> {
        Arc::new(Arc::clone(&self.broker))
    }

    pub async fn open(&self) -> Arc<Session> {
        self.write_manifest().await;
        self.make_queues().await
    }

    pub async fn write_manifest(&self) {
        let manifest = serde_json::to_vec(&self.manifest()).unwrap();
        let objects = Objects { session: self.id.clone() };
        self.store.create(&objects.manifest(), manifest.into()).await.unwrap();
    }

    pub async fn make_queues(&self) -> Arc<Session> {
        let outline = Arc::new(self.plan.outline());
        Arc::new(Session::open(self.id.clone(), outline, self.broker(), 2).await.unwrap())
    }

    async fn answer(self, tables: &[Table], rng: &mut Rng) -> (Vec<Answer>, usize) {
        let session = self.open().await;
        let mut kills = 0;
        let answers = tokio::select! {
            answers = self.read(session, tables) => answers,
            () = self.kill_at_random(rng, &mut kills) => unreachable!("it never ends"),
        };
        (answers, kills)
    }

    /// Sends the tables, and reads the answers.
    pub async fn read(&self, session: Arc<Session>, tables: &[Table]) -> Vec<Answer> {
        let uploading = tokio::spawn(upload(Arc::clone(&session), tables.to_vec()));
        let mut answers: Vec<Answer> = self.plan.queries.iter().map(|_| Ok(vec![])).collect();
        let service = Arc::new(InProcess::new(Arc::clone(&session)));
        let counters = Arc::new(UploadCounters::new(tables.len()));
        let client = caudal_client::run::<Error>(service, vec![], 1, counters, |event| {
            match event {
                Event::Rows(query, batch) => {
                    if let Ok(batches) = &mut answers[query.index()] {
                        batches.push(batch);
                    }
                }
                Event::Done(query, Err(failure)) => answers[query.index()] = Err(failure.message),
                Event::Done(_, Ok(()))
                | Event::Rejected(..)
                | Event::Noted(..)
                | Event::Waiting(_) => {}
            }
            Ok(())
        });
        client.await.unwrap();
        uploading.await.unwrap().unwrap();
        answers
    }

    async fn kill_at_random(&self, rng: &mut Rng, kills: &mut usize) {
        let mut workers: Vec<_> = (0..WORKERS).map(|number| self.start(number)).collect();
        let mut next_number = WORKERS;
        loop {
            tokio::time::sleep(Duration::from_micros(rng.u64(200..12_000))).await;
            let victim = rng.usize(..WORKERS);
            workers[victim].abort();
            *kills += 1;
            workers[victim] = self.start(next_number);
            next_number += 1;
        }
    }

    fn start(&self, number: usize) -> AbortOnDrop {
        self.start_on(number, Arc::clone(&self.store))
    }

    pub fn start_on(&self, number: usize, store: Arc<dyn Store>) -> AbortOnDrop {
        self.start_lingering(number, store, 0)
    }

    pub fn start_with(&self, number: usize, store: Arc<dyn Store>, memory: &Memory) -> AbortOnDrop {
        let engine = Arc::new(Engine::new(Arc::clone(&self.plan), memory));
        let worker = Worker { engine, ..self.worker(number, store, 0) };
        AbortOnDrop(tokio::spawn(async move { worker.run().await.unwrap() }))
    }

    pub fn start_lingering(
        &self,
        number: usize,
        store: Arc<dyn Store>,
        linger_ms: u64,
    ) -> AbortOnDrop {
        let worker = self.worker(number, store, linger_ms);
        AbortOnDrop(tokio::spawn(async move { worker.run().await.unwrap() }))
    }

    pub fn worker(&self, number: usize, store: Arc<dyn Store>, linger_ms: u64) -> Worker {
        let engine = Engine::new(Arc::clone(&self.plan), &Memory::new(1 << 30).unwrap());
        Worker {
            broker: self.broker(),
            engine: Arc::new(engine),
            queues: Queues { session: self.id.clone() },
            map_tasks: 1,
            counts: Arc::clone(&self.counts),
            at_work: Arc::default(),
            durable: Some(Durable {
                records: SessionRecords::new(store, self.id.clone()),
                manifest: Arc::new(self.manifest()),
                worker: format!("worker-{number}"),
                incarnation: number as u64,
                spread_ms: 3,
                linger_ms,
            }),
            stop: caudal_runtime::Level::default(),
            place: caudal_runtime::compute::Place::Apart,
            alone: Arc::default(),
            failed: Arc::default(),
        }
    }

    fn manifest(&self) -> Manifest {
        Manifest {
            session: self.id.clone(),
            tables: vec![],
            queries: vec![],
            shards: self.plan.shards,
            started_ms: 0,
            version: String::new(),
            fingerprint: String::new(),
            owner: String::new(),
        }
    }
}

pub struct AbortOnDrop(JoinHandle<()>);

impl AbortOnDrop {
    fn abort(&self) {
        self.0.abort();
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.abort();
    }
}
