//! Common parts of a cluster's processes: a broker, a store, a log, an end.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::thread;

use caudal_broker::Broker;
use caudal_broker::rabbitmq::{self, RabbitBroker};

use caudal_monitor::folder::Folder;
use caudal_monitor::health::HealthResponder;
use caudal_runtime::Level;
use caudal_store::Store;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::cluster::args::NodeArgs;
use crate::cluster::state::Cluster;
use crate::error::{Failed, Told};

/// Log level of a node when CAUDAL_LOG asks for no other.
const LOG_DEFAULT: &str = "info";

/// lapin would write down every message that a broker returns, with its rows; what is wrong with the broker we say
/// ourselves. Whoever asks for it by name gets it.
const LOG_NEVER: &str = "lapin=off";

const BROKER_DEFAULT: &str = "amqp://127.0.0.1:5672";

/// Log lines go to stderr.
pub fn start_log() {
    let asked = std::env::var("CAUDAL_LOG").unwrap_or_else(|_| LOG_DEFAULT.to_string());
    let filter = match asked.contains("lapin") {
        true => EnvFilter::new(asked),
        false => EnvFilter::new(format!("{asked},{LOG_NEVER}")),
    };
    let has_colours = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(has_colours)
        .with_writer(stderr)
        .init();
}

/// Raised once SIGTERM, SIGINT or SIGHUP (a closed terminal) has come. Awaited on a thread of its own: all
/// others may be busy.
pub fn stop_signal() -> Level {
    let stop = Level::default();
    let stopping = stop.clone();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Where we cannot listen, the signal ends the process, as it does any other.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let (Ok(mut term), Ok(mut int), Ok(mut hangup)) = (
                signal(SignalKind::terminate()),
                signal(SignalKind::interrupt()),
                signal(SignalKind::hangup()),
            ) else {
                return;
            };
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
                _ = hangup.recv() => {}
            }
            stopping.raise();
            std::future::pending::<()>().await;
        });
    });
    stop
}

/// Takes this node's place in the cluster that watches it, with heartbeats from the runtime that does its work.
pub fn take_place(
    folder: &Folder,
    name: &str,
    runtime: &Runtime,
) -> Result<HealthResponder, Failed> {
    let responder = HealthResponder::start(folder, name).told()?;
    runtime.spawn(responder.clone().heartbeat());
    Ok(responder)
}

/// The same for a node that may as well be watched by nobody.
pub fn take_any_place(
    args: &NodeArgs,
    runtime: &Runtime,
) -> Result<Option<HealthResponder>, Failed> {
    let folder = args.cluster.as_ref().map(Folder::new);
    folder.map(|folder| take_place(&folder, &args.name, runtime)).transpose()
}

/// Address of RabbitMQ: as was said, as the cluster file says, or the usual one.
fn broker_url(args: &NodeArgs) -> Result<String, Failed> {
    if let Some(url) = &args.broker {
        return Ok(url.clone());
    }
    let cluster = match &args.cluster {
        Some(folder) => Cluster::load(folder)?,
        None => None,
    };
    Ok(cluster.map_or_else(|| BROKER_DEFAULT.to_string(), |cluster| cluster.broker))
}

/// The broker, which may be waited for, and the store. None if the node has been told to leave meanwhile.
pub async fn connect(
    args: &NodeArgs,
    stop: &Level,
) -> Result<Option<(Arc<dyn Broker>, Arc<dyn Store>)>, Failed> {
    let store = caudal_store::open(&args.store).told()?;
    let mut settings = rabbitmq::Settings::new(broker_url(args)?);
    settings.queue_type = args.queue_type;
    let connecting = async {
        let broker = RabbitBroker::connect(settings).await?;
        // One of a cluster file has its place there.
        if args.cluster.is_none() {
            broker.hold_name(&args.name, &cluster_of(args)).await?;
        }
        Ok::<_, caudal_broker::Error>(broker)
    };
    tokio::select! {
        biased;
        _ = stop.above(0) => Ok(None),
        broker = connecting => Ok(Some((Arc::new(broker.told()?), store))),
    }
}

/// A cluster is who shares a store; several may share a broker.
fn cluster_of(args: &NodeArgs) -> String {
    let mut hasher = DefaultHasher::new();
    args.store.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
