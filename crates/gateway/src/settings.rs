//! Settings of a gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use caudal_core::limits;

use crate::tokens::Owner;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Unique among the gateways that run at the same time.
    pub name: String,
    pub listen: SocketAddr,
    /// Owners whose calls are answered. None: anybody's.
    pub tokens: Option<Vec<Owner>>,
    pub tls: Option<TlsFiles>,
    /// The program whose `planner`s plan for this gateway. None: it plans itself, and a query can be its end.
    pub planner: Option<PathBuf>,
    /// Sessions of the whole cluster at the same time; the same at all its gateways.
    pub sessions_max: usize,
    /// Shards of a session whose client does not say how many.
    pub shards: usize,
    /// Grace period: the time that a session may be without its client.
    pub grace: Duration,
    /// How long a session may be open, whatever it is at.
    pub session_max: Duration,
    /// Time that a session waits for its first worker.
    pub unclaimed_max: Duration,
}

/// Files of the certificate chain and its private key, as PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Settings {
    pub fn new(name: impl Into<String>, listen: SocketAddr) -> Self {
        Self {
            name: name.into(),
            listen,
            tokens: None,
            tls: None,
            planner: None,
            sessions_max: limits::SESSIONS_MAX,
            shards: limits::SHARDS_DEFAULT,
            grace: Duration::from_secs(limits::GRACE_SECONDS),
            session_max: Duration::from_secs(limits::SESSION_SECONDS_MAX),
            unclaimed_max: Duration::from_secs(limits::UNCLAIMED_SECONDS_MAX),
        }
    }
}
