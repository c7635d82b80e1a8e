//! A whole system in this process: gateway, worker and client, as on a cluster, with nothing
//! between them but the memory broker.

mod service;

use std::sync::Arc;

use caudal_broker::{Broker, MemoryBroker};
use caudal_client::{Event, Service, Upload, UploadCounters};
use caudal_core::SessionId;
use caudal_engine::{Engine, Memory, memory};
use caudal_gateway::Session;
use caudal_planner::SessionPlan;
use caudal_protocol::Queues;
use caudal_runtime::Level;
use caudal_runtime::compute::{self, Place, Stop};
use caudal_worker::{Counts, Worker};

pub use self::service::InProcess;
use self::service::session_error;
use crate::error::Error;

/// Settings of a run in this process.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Fragments read, and mapped, at the same time.
    pub threads: usize,
    pub memory_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threads: 2, memory_bytes: memory::default_bytes() }
    }
}

/// A session of its own, with a worker of its own. Dropped, both end.
pub struct Local {
    pub session: Arc<Session>,
    pub engine: Arc<Engine>,
    pub counts: Arc<Counts>,
    /// The session, as its client sees it.
    pub service: Arc<InProcess>,
    threads: usize,
}

impl Local {
    pub async fn open(plan: Arc<SessionPlan>, settings: Settings) -> Result<Self, Error> {
        let broker = Arc::new(Arc::new(MemoryBroker::default()));
        Self::open_on(broker, plan, settings).await
    }

    pub async fn open_on(
        broker: Arc<dyn Broker>,
        plan: Arc<SessionPlan>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let Settings { threads, memory_bytes } = settings;
        compute::set_threads(threads);
        let memory = Memory::new(memory_bytes).map_err(Error::Engine)?;
        let engine = Arc::new(Engine::new(Arc::clone(&plan), &memory));
        let id = SessionId("local".to_string());
        let outline = Arc::new(plan.outline());
        let session = Session::open(id.clone(), outline, Arc::clone(&broker), threads).await;
        let session = Arc::new(session.map_err(session_error)?);
        let (counts, stop) = (Arc::new(Counts::default()), Stop::default());
        let worker = Worker {
            broker,
            engine: Arc::clone(&engine),
            queues: Queues { session: id },
            map_tasks: threads,
            counts: Arc::clone(&counts),
            at_work: Arc::default(),
            durable: None,
            stop: Level::default(),
            place: Place::Here(stop.clone()),
            alone: Arc::default(),
            failed: Arc::default(),
        };
        let working = compute::entered(|| tokio::spawn(worker.run()));
        let service = InProcess::with_worker(Arc::clone(&session), working, stop);
        Ok(Self { session, engine, counts, service: Arc::new(service), threads })
    }

    /// Sends the tables and hands every event to `handle`, on the calling task, until all queries
    /// are done; then removes everything of the session.
    pub async fn run<E: From<caudal_client::Error>>(
        self,
        uploads: Vec<Upload>,
        counters: Arc<UploadCounters>,
        handle: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let service = Arc::<InProcess>::clone(&self.service);
        caudal_client::run(service, uploads, self.threads, counters, handle).await?;
        Ok(self.service.finish().await?)
    }
}
