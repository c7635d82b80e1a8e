//! What can be typed about nodes and clusters.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use caudal_broker::rabbitmq::QueueType;
use caudal_core::limits;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::chaos::choice::Kind;

/// What every node has to know.
#[derive(Args)]
pub struct NodeArgs {
    /// The name of this node, unique in its cluster
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Where RabbitMQ is; better by CAUDAL_BROKER where it holds a password [default: what the cluster file says, or
    /// amqp://127.0.0.1:5672]
    #[arg(long, value_name = "URL", env = "CAUDAL_BROKER", hide_env_values = true)]
    pub broker: Option<String>,
    /// The kind of queues: classic for one broker, quorum for a cluster of brokers
    #[arg(long, default_value = "classic", value_parser = queue_type())]
    pub queue_type: QueueType,
    /// Where sessions and journals are kept, shared by all nodes: a directory, or s3://bucket/prefix
    #[arg(long, value_name = "STORE")]
    pub store: String,
    /// The folder of a cluster that is watched by monitors: with the cluster file and its secret
    #[arg(long, value_name = "DIR")]
    pub cluster: Option<PathBuf>,
}

fn queue_type() -> impl TypedValueParser<Value = QueueType> {
    PossibleValuesParser::new(QueueType::NAMES).try_map(|name| name.parse())
}

/// Work for the sessions of a cluster
///
/// A worker maps fragments and owns shards of every open session. Any number of them may come and go
/// at any time; SIGTERM makes one finish what is in hand and leave.
#[derive(Args)]
#[command(after_help = "Example:
  caudal worker --name worker-1 --broker amqp://rabbit:5672 --store /srv/caudal")]
pub struct WorkerArgs {
    #[command(flatten)]
    pub node: NodeArgs,
    /// Compute threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=limits::THREADS_MAX))]
    pub threads: Option<u32>,
    /// Memory of all sessions' joins, aggregates and sorts before they spill to disk [default: half of the machine's, or of
    /// the container's]
    #[arg(long, value_parser = crate::args::parse_bytes)]
    pub memory: Option<usize>,
}

/// Open a cluster to clients, by Arrow Flight
///
/// Any number of gateways may serve one cluster: a client that loses one goes on at another.
#[derive(Args)]
#[command(after_help = "Example:
  caudal gateway --name gateway-1 --listen 0.0.0.0:7070 --store /srv/caudal \\
    --tokens /etc/caudal/tokens --tls-cert cert.pem --tls-key key.pem")]
pub struct GatewayArgs {
    #[command(flatten)]
    pub node: NodeArgs,
    /// Where clients connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub listen: SocketAddr,
    /// Sessions that may be open in the whole cluster; the same for all its gateways
    #[arg(long, value_name = "N", default_value_t = limits::SESSIONS_MAX as u32, value_parser = clap::value_parser!(u32).range(1..=limits::SESSIONS_SET_MAX))]
    pub sessions: u32,
    /// Shards of a session whose client does not say [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=limits::SHARDS_MAX as i64))]
    pub shards: Option<u32>,
    /// Seconds after which a session that no client holds is removed
    #[arg(long, value_name = "SECONDS", default_value_t = limits::GRACE_SECONDS)]
    pub grace: u64,
    /// Seconds that a session may be open, whatever it is at
    #[arg(long, value_name = "SECONDS", default_value_t = limits::SESSION_SECONDS_MAX)]
    pub session_max: u64,
    /// A file with the tokens that clients may present, one a line; without it, any is good
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// The certificate chain to show to clients, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Let other machines connect without TLS, or with any token
    #[arg(long)]
    pub insecure: bool,
}

/// Watch over the nodes of a cluster, and bring back those that die
///
/// Monitors ask every node, each other included, whether it lives. The highest of those that live leads, and
/// starts again what does not answer: on this machine, by the cluster file.
#[derive(Args)]
#[command(after_help = "Example:
  caudal monitor --name monitor-1 --cluster /srv/caudal/cluster")]
pub struct MonitorArgs {
    /// The name of this monitor in the cluster file
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// The cluster's folder, with the cluster file and its secret
    #[arg(long, value_name = "DIR")]
    pub cluster: PathBuf,
}

/// Keep the RabbitMQ of a cluster on this machine running
///
/// It outlives its keeper; `caudal down` stops both.
#[derive(Args)]
pub struct BrokerArgs {
    /// The name of this node in the cluster file
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// The cluster's folder, with the cluster file and its secret
    #[arg(long, value_name = "DIR")]
    pub cluster: PathBuf,
}

/// Run a whole cluster on this machine
///
/// Starts gateways, workers and monitors, and a RabbitMQ of their own unless --broker names one. Any
/// of them may be killed: as long as one monitor lives, all come back. Runs until Ctrl-C; with
/// --detach it goes on by itself until `caudal down`.
#[derive(Args)]
#[command(after_help = "Examples:
  caudal up --workers 4
  caudal up --workers 8 --gateways 2 --detach && caudal status && caudal down
  caudal run steam --data ./steam --gateway 127.0.0.1:7070   # in another terminal")]
pub struct UpArgs {
    /// How many workers
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=limits::UP_WORKERS_MAX))]
    pub workers: u32,
    /// How many gateways
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=limits::UP_GATEWAYS_MAX))]
    pub gateways: u32,
    /// How many monitors; without any, nobody brings back what dies
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=limits::UP_MONITORS_MAX))]
    pub monitors: u32,
    /// The port of the first gateway; the others have the next ones
    #[arg(long, default_value_t = 7070)]
    pub port: u16,
    /// A RabbitMQ to use instead of a private one
    #[arg(long, value_name = "URL", env = "CAUDAL_BROKER", hide_env_values = true)]
    pub broker: Option<String>,
    /// A store to use instead of one in the cluster's folder
    #[arg(long, value_name = "STORE")]
    pub store: Option<String>,
    /// Compute threads of each worker [default: the cores divided by the workers, at least 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=limits::THREADS_MAX))]
    pub threads: Option<u32>,
    /// Sessions that may be open at the same time
    #[arg(long, value_name = "N", default_value_t = limits::SESSIONS_MAX as u32, value_parser = clap::value_parser!(u32).range(1..=limits::SESSIONS_SET_MAX))]
    pub sessions: u32,
    /// Seconds after which a session that no client holds is removed
    #[arg(long, value_name = "SECONDS", default_value_t = limits::GRACE_SECONDS)]
    pub grace: u64,
    /// A file with the tokens that clients may present, one a line; without it, any is good
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Return as soon as the cluster is ready, and leave it running
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Show the nodes of a cluster on this machine
///
/// Who runs, who leads, how often each has been brought back.
#[derive(Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Stop a cluster on this machine
///
/// First nothing is brought back any more. Then every node is told to leave and has some seconds to do
/// so; then it is killed.
#[derive(Args)]
pub struct DownArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Kill and freeze nodes of the cluster on this machine, and see it mend
///
/// With --interval it chooses by itself, and in the end waits until every node is up again. Without, it
/// does what is typed: list, kill NODE, freeze NODE, thaw NODE, exit.
#[derive(Args)]
#[command(after_help = "Examples:
  caudal chaos
  caudal chaos --interval 2s --for 10m --seed 7 --log faults.csv
  echo kill worker-2 | caudal chaos")]
pub struct ChaosArgs {
    /// Hit a node every so often, e.g. 500ms or 2s
    #[arg(long, value_name = "TIME", value_parser = crate::args::parse_interval)]
    pub interval: Option<Duration>,
    /// End after so long [default: at Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = crate::args::parse_duration, requires = "interval")]
    pub duration: Option<Duration>,
    /// What to do to nodes
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["kill", "freeze"], requires = "interval")]
    pub kinds: Vec<Kind>,
    /// Leave a node that was hit alone for so long
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = crate::args::parse_duration)]
    pub spare_window: Duration,
    /// Hit the last monitor, too: nothing comes back after that
    #[arg(long)]
    pub no_mercy: bool,
    /// The same seed chooses the same nodes, as far as the same are there
    #[arg(long, requires = "interval")]
    pub seed: Option<u64>,
    /// Write down what was done, as CSV
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

#[derive(Args)]
pub struct PlaceArgs {
    /// The cluster's folder: its state, logs and process ids
    #[arg(long, value_name = "DIR", default_value = ".caudal")]
    pub dir: PathBuf,
}
