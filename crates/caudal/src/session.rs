//! Places where queries are answered, and their settings.

use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use caudal_client::Remote;
use caudal_client::remote::nonce;
use caudal_core::{Coded, Failure, TableId, codes, limits};
use caudal_engine::memory;
use caudal_protocol::calls::OpenRequest;
use caudal_protocol::manifest::TableEntry;
use caudal_protocol::schema;
use caudal_source::Table;
use caudal_suite::TableOptions;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::job::Job;
use crate::local::{self, Local};
use crate::progress::Progress;
use crate::reading::Reading;
use crate::run::{Deadline, Opened, Run};
use crate::tables::Tables;

/// Callback of a run that waits for its turn: told why.
type OnWait = dyn Fn(&Error) + Send + Sync;

/// Place where queries are answered, with its settings. Cheap to clone; each query is a session of its own there.
#[derive(Clone)]
pub struct Session {
    place: Place,
    threads: Option<NonZero<usize>>,
    shards: Option<NonZero<usize>>,
    memory_bytes: Option<usize>,
    timeout: Option<Duration>,
    wait: Duration,
    on_wait: Option<Arc<OnWait>>,
    reading: Reading,
}

#[derive(Clone)]
enum Place {
    Here,
    Cluster(Cluster),
}

impl Session {
    /// In this process.
    pub fn local() -> Self {
        Self::at(Place::Here)
    }

    /// On a cluster, through whichever of its gateways answers: `["host:7070", "host2:7070"]`, or a [`Cluster`] with a
    /// token. Nothing is sent before a query is.
    pub fn connect(cluster: impl Into<Cluster>) -> Self {
        Self::at(Place::Cluster(cluster.into()))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            threads: None,
            shards: None,
            memory_bytes: None,
            timeout: None,
            wait: Duration::ZERO,
            on_wait: None,
            reading: Reading::default(),
        }
    }

    /// Number of tasks that read files, and of those that compute in this process; one for each core, if it is not set.
    pub fn threads(self, threads: NonZero<usize>) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Number of shards that joins and aggregates are divided over. If it is not set: in this process as many as threads, but
    /// at least two, and on a cluster what the gateway finds right.
    pub fn shards(self, shards: NonZero<usize>) -> Self {
        Self { shards: Some(shards), ..self }
    }

    /// Memory that joins, aggregates and sorts may hold in this process before they spill to disk. The workers of a cluster
    /// have a bound of their own, and a session there is not opened with this one.
    pub fn memory_bytes(self, bytes: usize) -> Self {
        Self { memory_bytes: Some(bytes), ..self }
    }

    /// Time that a run may take, from its beginning to its last row; then it ends, with all its work, by
    /// [`Error::TimedOut`]. For ever, if it is not set, or as long as a cluster allows.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Time that a run may wait for its turn on a cluster that has as many sessions open as it allows; it is no part of
    /// [`timeout`](Self::timeout). Then it ends by that refusal; at once, if this is not set.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Called once by each run that waits for its turn, with the refusal.
    pub fn on_wait(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_wait: Some(Arc::new(tell)), ..self }
    }

    /// Whether a row that does not fit its table is an error. It is counted and left out, if this is not said.
    pub fn strict(mut self, strict: bool) -> Self {
        self.reading.strict = strict;
        self
    }

    /// Whether a row is judged by all columns of its table, whichever the queries need: then it is there for all of them, or
    /// for none. Otherwise only what is needed is looked at, which is less work.
    pub fn strict_rows(mut self, strict: bool) -> Self {
        self.reading.judge_all_columns = strict;
        self
    }

    /// How many of a table's rows may be left out because they do not fit, in percent of all: 10, if this is not said. More
    /// than that, or all, is an error; `None` says that it never is.
    pub fn rejected_max(mut self, percent: impl Into<Option<f64>>) -> Self {
        self.reading.rejected_percent_max = percent.into();
        self
    }

    /// Whether rows that do not fit come with their bytes ([`Reject::raw`](crate::Reject::raw)).
    pub fn keep_rejects(mut self, keep: bool) -> Self {
        self.reading.keep_rejects = keep;
        self
    }

    /// A table of files, to ask about here: see [`Tables::table`].
    pub fn table(&self, name: impl Into<String>, files: impl Into<String>) -> Tables {
        Tables::of(self.clone()).table(name, files)
    }

    /// A table of files of which something is known, to ask about here: see [`Tables::table_with`].
    pub fn table_with(
        &self,
        name: impl Into<String>,
        files: impl Into<String>,
        options: TableOptions,
    ) -> Tables {
        Tables::of(self.clone()).table_with(name, files, options)
    }

    /// A table whose columns are known, to ask about here.
    pub fn typed_table(&self, table: impl Into<Table>) -> Tables {
        Tables::of(self.clone()).typed_table(table)
    }

    /// Opens a session that answers all queries of a job, in one pass over its tables. Fails if not one of them can be
    /// answered.
    pub async fn run(&self, job: &Job) -> Result<Run, Error> {
        let began = Instant::now();
        let mut is_told = false;
        loop {
            let refused = match self.open(job).await {
                Err(error) if error.code() == codes::TOO_MANY_SESSIONS => error,
                opened => return opened,
            };
            let left = self.wait.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(refused);
            }
            if let Some(tell) = &self.on_wait
                && !is_told
            {
                tell(&refused);
                is_told = true;
            }
            sleep(left.min(Duration::from_millis(limits::SESSIONS_RETRY_MS))).await;
        }
    }

    async fn open(&self, job: &Job) -> Result<Run, Error> {
        let opening = async {
            match &self.place {
                Place::Here => self.open_here(job).await,
                Place::Cluster(cluster) => self.open_on(cluster, job).await,
            }
        };
        let Some(timeout) = self.timeout else { return Ok(Run::new(opening.await?, None)) };
        let mut deadline = Deadline::after(timeout);
        let opened = tokio::select! {
            biased;
            opened = opening => opened?,
            late = deadline.passed() => return Err(late),
        };
        Ok(Run::new(opened, Some(deadline)))
    }

    /// Number of tasks that read, and of those that compute, at the same time.
    pub fn thread_count(&self) -> usize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        self.threads.unwrap_or_else(cores).get()
    }

    fn shard_count(&self) -> usize {
        let by_threads = || self.thread_count().clamp(2, limits::SHARDS_MAX);
        self.shards.map_or_else(by_threads, NonZero::get)
    }

    async fn open_here(&self, job: &Job) -> Result<Opened, Error> {
        let plan = job.plan(self.shard_count()).await?.stages;
        let needs = |table| &plan.table(table).needs;
        let uploads = self.reading.uploads(&job.tables, limits::FRAGMENT_CSV_BYTES, needs)?;
        let threads = self.thread_count();
        let memory_bytes = self.memory_bytes.unwrap_or_else(memory::default_bytes);
        let settings = local::Settings { threads, memory_bytes };
        let schemas = plan.queries.iter().map(|query| match &query.answer {
            Ok(answer) => Ok(Arc::clone(&answer.schema)),
            Err(error) => Err(Failure::of(error.as_ref())),
        });
        let schemas = schemas.collect();
        let local = Local::open(plan, settings).await?;
        let session = local.session.queues.session.clone();
        let progress = Progress::new(&job.tables, &uploads);
        Ok(Opened { session, service: local.service, schemas, uploads, readers: threads, progress })
    }

    async fn open_on(&self, cluster: &Cluster, job: &Job) -> Result<Opened, Error> {
        if self.memory_bytes.is_some() {
            return Err(Error::MemoryOfCluster);
        }
        job.check_params()?;
        let request = OpenRequest {
            nonce: nonce(),
            tables: job.tables.iter().map(entry).collect(),
            queries: job.specs(),
            shards: self.shards.map(NonZero::get),
        };
        let remote = Remote::open(&cluster.settings, &request).await?;
        let needs = |table: TableId| &remote.tables[table.index()];
        let chunk_bytes = limits::CLUSTER_FRAGMENT_CSV_BYTES;
        let uploads = match self.reading.uploads(&job.tables, chunk_bytes, needs) {
            Ok(uploads) => uploads,
            Err(error) => {
                remote.cancel().await;
                return Err(error);
            }
        };
        let (session, schemas) = (remote.session.clone(), remote.schemas.clone());
        let progress = Progress::new(&job.tables, &uploads);
        let (service, readers) = (Arc::new(remote), self.thread_count());
        Ok(Opened { session, service, schemas, uploads, readers, progress })
    }
}

fn entry(table: &Table) -> TableEntry {
    let schema = schema::encode(&table.schema());
    TableEntry { name: table.name.clone(), schema }
}
