//! A job on a cluster. It is planned there; here files are read and answers are shown.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use caudal_client::remote::{Settings, nonce};
use caudal_client::{Progress, Remote};
use caudal_core::{TableId, limits};
use caudal_planner::Param;
use caudal_protocol::calls::OpenRequest;
use caudal_protocol::manifest::{ParamValue, QueryEntry, TableEntry};
use caudal_protocol::schema;
use tokio::time::timeout;

use crate::args::{ClusterArgs, EngineArgs, InputArgs, OutputArgs};
use crate::error::Failed;
use crate::job::{Job, Titled, schema_of};
use crate::local;
use crate::showing::Showing;
use crate::uploads::Reading;
use crate::{Done, interrupt};

/// Where `caudal up` puts its first gateway.
const GATEWAY_DEFAULT: &str = "127.0.0.1:7070";

/// Whoever opens a session, lists or cancels some is answered in far less, if all is well.
const MOMENT: Duration = Duration::from_secs(2);

/// What cancelling a session may keep whoever pressed Ctrl-C.
const FAREWELL: Duration = Duration::from_secs(2);

/// How to reach the cluster that was named; the one on this machine, where none was.
pub fn settings(args: &ClusterArgs) -> Result<Settings, Failed> {
    let gateways = match args.gateway.is_empty() {
        true => vec![GATEWAY_DEFAULT.to_string()],
        false => args.gateway.clone(),
    };
    let read = |file: &std::path::PathBuf| {
        std::fs::read(file).map_err(|error| {
            let message = format!("cannot read the certificates in {}: {error}", file.display());
            Failed::usage("CDL-9007", message)
        })
    };
    let ca_pem = args.ca.as_ref().map(read).transpose()?;
    Ok(Settings { token: args.token.clone(), ca_pem, ..Settings::new(gateways) })
}

/// What a gateway answers. Says on stderr what it waits for, if that takes longer than a moment.
pub async fn patiently<T>(
    settings: &Settings,
    is_quiet: bool,
    answer: impl Future<Output = T>,
) -> T {
    let mut answer = pin!(answer);
    if let Ok(answered) = timeout(MOMENT, &mut answer).await {
        return answered;
    }
    if !is_quiet {
        eprintln!("waiting: no answer yet from {}", settings.gateways.join(", "));
    }
    answer.await
}

/// Answers a job.
pub fn answer(
    job: &Job,
    engine: EngineArgs,
    cluster: &ClusterArgs,
    output: &OutputArgs,
    input: &InputArgs,
) -> Done {
    interrupt::allow(FAREWELL);
    let settings = settings(cluster)?;
    let readers = local::Settings::from(engine).threads;
    // One thread more than are busy with files, for what comes and goes.
    let runtime = local::runtime(readers + 1)?;
    let run = Run { job, readers, output, input };
    let done = runtime.block_on(async {
        let request = open_request(job, engine.shards);
        let remote = tokio::select! {
            opened = patiently(&settings, output.quiet, Remote::open(&settings, &request)) => {
                Arc::new(opened?)
            }
            _ = interrupt::pressed() => return Err(Failed::interrupted()),
        };
        let done = tokio::select! {
            done = run.on(&remote) => done,
            _ = interrupt::pressed() => Err(Failed::interrupted()),
        };
        match done {
            Ok(()) => remote.close().await,
            Err(_) => remote.cancel().await,
        }
        done
    });
    runtime.shutdown_background();
    done
}

struct Run<'a> {
    job: &'a Job,
    readers: usize,
    output: &'a OutputArgs,
    input: &'a InputArgs,
}

impl Run<'_> {
    async fn on(&self, remote: &Arc<Remote>) -> Done {
        let Self { job, output, input, .. } = self;
        let needs = |table: TableId| remote.tables[table.index()].columns.as_deref();
        let chunk_bytes = limits::CLUSTER_FRAGMENT_CSV_BYTES;
        let uploads = Reading::from(*input).uploads(job, chunk_bytes, needs)?;
        let progress = Arc::new(Progress::new(job.tables.len()));
        let mut showing = Showing::start(job, &remote.schemas, &uploads, &progress, output, input)?;
        let service = Arc::clone(remote);
        let handle = |event| showing.handle(event);
        let ran = caudal_client::run(service, uploads, self.readers, progress, handle).await;
        showing.finish(ran)
    }
}

fn open_request(job: &Job, shards: Option<u32>) -> OpenRequest {
    let table = |table: &caudal_csv::TableSpec| {
        let schema = schema::encode(&schema_of(table)).expect("columns of CSV have plain types");
        TableEntry { name: table.name.clone(), schema }
    };
    let query = |Titled { spec, .. }: &Titled| QueryEntry {
        name: spec.name.clone(),
        sql: spec.sql.clone(),
        params: spec.params.iter().map(|(name, value)| (name.clone(), param(value))).collect(),
    };
    OpenRequest {
        nonce: nonce(),
        tables: job.tables.iter().map(table).collect(),
        queries: job.queries.iter().map(query).collect(),
        shards: shards.map(|shards| shards as usize),
    }
}

fn param(value: &Param) -> ParamValue {
    match value {
        Param::Int(value) => ParamValue::Int(*value),
        Param::Float(value) => ParamValue::Float(*value),
        Param::Decimal(value) => ParamValue::Decimal(*value),
        Param::Text(value) => ParamValue::Text(value.clone()),
        Param::Bool(value) => ParamValue::Bool(*value),
    }
}
