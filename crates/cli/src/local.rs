//! A job on a system in this process.

use std::sync::Arc;

use caudal_client::{Event, Progress, Upload};
use caudal_core::limits;
use caudal_local::Local;
use caudal_planner::{QueryPlan, SessionPlan, SessionSpec, TableSpec};

use crate::args::{EngineArgs, InputArgs, OutputArgs};
use crate::error::Failed;
use crate::interrupt;
use crate::job::{Job, schema_of};
use crate::showing::Showing;
use crate::uploads::Reading;

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct Settings {
    pub threads: usize,
    pub shards: usize,
    pub memory_bytes: usize,
    pub reading: Reading,
}

impl From<EngineArgs> for Settings {
    fn from(args: EngineArgs) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let threads = args.threads.map_or(cores, |threads| threads as usize);
        Self {
            threads,
            shards: args.shards.map_or(threads.clamp(2, limits::SHARDS_MAX), |n| n as usize),
            memory_bytes: args.memory.unwrap_or(limits::MEMORY_BYTES_DEFAULT),
            reading: Reading::default(),
        }
    }
}

/// A planned job: what the client has to send is known, nothing has been read.
pub struct Planned {
    pub plan: Arc<SessionPlan>,
    pub uploads: Vec<Upload>,
    pub progress: Arc<Progress>,
    settings: caudal_local::Settings,
}

/// The threads that do the work.
pub fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failed> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(|error| Failed::usage("CDL-6003", format!("cannot start threads: {error}")))
}

pub async fn plan(job: &Job, shards: usize) -> Result<Arc<SessionPlan>, Failed> {
    let tables = job.tables.iter();
    let tables =
        tables.map(|table| TableSpec { name: table.name.clone(), schema: schema_of(table) });
    let spec = SessionSpec {
        tables: tables.collect(),
        queries: job.queries.iter().map(|query| query.spec.clone()).collect(),
        shards,
        started: chrono::Utc::now(),
    };
    Ok(Arc::new(caudal_planner::plan(&spec).await?))
}

/// Answers a job: planned, run and shown here.
pub fn answer(
    job: &Job,
    engine: EngineArgs,
    output: &OutputArgs,
    input: &InputArgs,
) -> Result<(), Failed> {
    let settings = Settings { reading: Reading::from(input), ..engine.into() };
    let runtime = runtime(settings.threads)?;
    let planned = runtime.block_on(prepare(job, &settings))?;
    let schema = |query: &QueryPlan| match &query.answer {
        Ok(answer) => Ok(Arc::clone(&answer.schema)),
        Err(error) => Err(error.refusal()),
    };
    let schemas: Vec<_> = planned.plan.queries.iter().map(schema).collect();
    let (uploads, progress) = (&planned.uploads, &planned.progress);
    let mut showing = Showing::start(job, &schemas, uploads, progress, output, input)?;
    let ran = runtime.block_on(run(planned, |event| showing.handle(event)));
    runtime.shutdown_background();
    showing.finish(ran)
}

/// Plans a job and opens the files of the tables it needs.
pub async fn prepare(job: &Job, settings: &Settings) -> Result<Planned, Failed> {
    let plan = plan(job, settings.shards).await?;
    let needs = |table| {
        let needs = plan.table(table);
        (!needs.stages.is_empty()).then_some(needs.columns.as_slice())
    };
    let uploads = settings.reading.uploads(job, limits::FRAGMENT_CSV_BYTES, needs)?;
    let progress = Arc::new(Progress::new(job.tables.len()));
    let Settings { threads, memory_bytes, .. } = *settings;
    let settings = caudal_local::Settings { threads, memory_bytes };
    Ok(Planned { plan, uploads, progress, settings })
}

/// Runs a planned job; every event goes to `handle`, on the calling thread.
pub async fn run(
    planned: Planned,
    handle: impl FnMut(Event) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let Planned { plan, uploads, progress, settings } = planned;
    let local = Local::open(plan, settings).await?;
    tokio::select! {
        ended = local.run(uploads, progress, handle) => ended,
        _ = interrupt::pressed() => Err(Failed::interrupted()),
    }
}
