//! A job on a system in this process.

use std::sync::Arc;

use caudal_client::{Event, Progress, Upload};
use caudal_core::{TableId, limits};
use caudal_csv::{Options, Reader};
use caudal_local::Local;
use caudal_planner::{ROW_COLUMN, SessionPlan, SessionSpec, TableSpec};

use crate::args::EngineArgs;
use crate::error::Failed;
use crate::interrupt;
use crate::job::{Job, schema_of};

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct Settings {
    pub threads: usize,
    pub shards: usize,
    pub memory_bytes: usize,
    pub strict: bool,
    pub keep_rejects: bool,
}

impl From<EngineArgs> for Settings {
    fn from(args: EngineArgs) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let threads = args.threads.map_or(cores, |threads| threads as usize);
        Self {
            threads,
            shards: args.shards.map_or(threads.clamp(2, limits::SHARDS_MAX), |n| n as usize),
            memory_bytes: args.memory.unwrap_or(limits::MEMORY_BYTES_DEFAULT),
            strict: false,
            keep_rejects: false,
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

/// Plans a job and opens the files of the tables it needs, smallest first: what joins with a large
/// table is then complete before the large one ends, and answers can come early.
pub async fn prepare(job: &Job, settings: &Settings) -> Result<Planned, Failed> {
    let plan = plan(job, settings.shards).await?;
    let mut uploads = vec![];
    for (index, spec) in job.tables.iter().enumerate() {
        let table = TableId::from(index);
        let needs = plan.table(table);
        if needs.stages.is_empty() {
            continue;
        }
        let visible = spec.columns.len();
        let columns = needs.columns.iter().copied().filter(|column| *column < visible).collect();
        let position = needs.columns.contains(&visible).then(|| ROW_COLUMN.to_string());
        let options = Options {
            chunk_bytes: limits::FRAGMENT_CSV_BYTES,
            record_bytes_max: limits::CSV_RECORD_BYTES_MAX,
            strict: settings.strict,
            position,
            keep_raw_rejects: settings.keep_rejects,
        };
        let reader = Arc::new(Reader::open(spec.clone(), columns, options)?);
        uploads.push(Upload { table, reader });
    }
    uploads.sort_by_key(|upload| upload.reader.total_bytes());
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
