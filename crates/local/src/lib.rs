//! A whole system in this process: gateway, worker and client, as on a cluster, with nothing
//! between them but the memory broker.

mod service;

use std::sync::Arc;

use caudal_broker::{Broker, MemoryBroker};
use caudal_client::{Event, Progress, Upload};
use caudal_core::{Code, Coded, SessionId, limits};
use caudal_engine::Engine;
use caudal_gateway::Session;
use caudal_planner::SessionPlan;
use caudal_protocol::Queues;
use caudal_runtime::Level;
use caudal_worker::{Counts, Worker};
use datafusion::error::DataFusionError;
use thiserror::Error;
use tokio::task::JoinError;

pub use crate::service::InProcess;
use crate::service::session_error;

/// How a run is carried out.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Fragments read, and mapped, at the same time.
    pub threads: usize,
    pub memory_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threads: 2, memory_bytes: limits::MEMORY_BYTES_DEFAULT }
    }
}

#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot start the engine: {0}")]
    Engine(DataFusionError),
    #[error(transparent)]
    Client(#[from] caudal_client::Error),
    #[error(transparent)]
    Worker(#[from] caudal_worker::Error),
    #[error("the worker ended before its session")]
    WorkerLeft,
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::Engine(_) => "CDL-5004",
            Error::Client(error) => error.code(),
            Error::Worker(error) => error.code(),
            Error::WorkerLeft => "CDL-5005",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Client(error) => error.hint(),
            Error::Worker(error) => error.hint(),
            Error::Engine(_) | Error::WorkerLeft => None,
        }
    }
}

/// A session of its own, with a worker of its own.
pub struct Local {
    pub session: Arc<Session>,
    pub engine: Arc<Engine>,
    pub counts: Arc<Counts>,
    working: tokio::task::JoinHandle<Result<(), caudal_worker::Error>>,
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
        let engine = Engine::new(Arc::clone(&plan), memory_bytes).map_err(Error::Engine)?;
        let engine = Arc::new(engine);
        let id = SessionId("local".to_string());
        let session = Session::open(id.clone(), plan, Arc::clone(&broker), threads).await;
        let session = Arc::new(session.map_err(session_error)?);
        let counts = Arc::new(Counts::default());
        let worker = Worker {
            broker,
            engine: Arc::clone(&engine),
            queues: Queues { session: id },
            map_tasks: threads,
            counts: Arc::clone(&counts),
            durable: None,
            stop: Level::default(),
            alone: Arc::default(),
        };
        Ok(Self { session, engine, counts, working: tokio::spawn(worker.run()), threads })
    }

    /// Sends the tables and hands every event to `handle`, on the calling task, until all queries
    /// are done; then removes everything of the session.
    pub async fn run<E: From<Error> + From<caudal_client::Error>>(
        mut self,
        uploads: Vec<Upload>,
        progress: Arc<Progress>,
        handle: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let service = Arc::new(InProcess::new(Arc::clone(&self.session)));
        let client = caudal_client::run(service, uploads, self.threads, progress, handle);
        tokio::select! {
            ended = client => ended?,
            // A worker outlives its session, unless it has failed.
            ended = &mut self.working => return Err(died(ended).into()),
        }
        self.close().await.map_err(E::from)
    }

    /// Removes everything of the session; returns when the worker has noticed.
    pub async fn close(self) -> Result<(), Error> {
        self.session.close().await.map_err(session_error)?;
        match self.working.await {
            Ok(Ok(())) => Ok(()),
            ended => Err(died(ended)),
        }
    }
}

fn died(ended: Result<Result<(), caudal_worker::Error>, JoinError>) -> Error {
    match ended {
        Ok(Ok(())) => Error::WorkerLeft,
        Ok(Err(error)) => error.into(),
        Err(error) => caudal_worker::Error::Panicked(error).into(),
    }
}
