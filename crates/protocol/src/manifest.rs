//! Records of a session: what it is, for every process that takes part in it, and how it ended.

use caudal_core::{Failure, ParamValue, SessionId};
use serde::{Deserialize, Serialize};

/// Written once, when the session is opened. Every process plans from it, and arrives at the same
/// fingerprint or does not take part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub session: SessionId,
    pub tables: Vec<TableEntry>,
    pub queries: Vec<QuerySpec>,
    pub shards: usize,
    /// The time of `now()`: milliseconds since 1970, UTC.
    pub started_ms: i64,
    /// The version of the engine that planned it.
    pub version: String,
    /// Of the plan, in hexadecimal.
    pub fingerprint: String,
    /// SHA-256 of the owner's token, in hexadecimal.
    pub owner: String,
}

/// A table as it is written down. Gateways pass it on as it is: whoever plans decodes its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    pub name: String,
    /// The columns SQL can see: an Arrow schema as an encapsulated IPC message, in base64.
    pub schema: String,
}

/// A query: what is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuerySpec {
    pub name: String,
    pub sql: String,
    /// Values for the `$name` placeholders.
    #[serde(default)]
    pub params: Vec<(String, ParamValue)>,
}

/// `closed/<id>`: the end of a session, written before anything of it is removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    pub session: SessionId,
    pub owner: String,
    /// None: closed by its client.
    pub failure: Option<Failure>,
    pub closed_ms: i64,
    /// Its queues: the manifest may be gone before they are.
    pub shards: usize,
    pub queries: usize,
}

impl Tombstone {
    pub fn of(manifest: &Manifest, failure: Option<Failure>, closed_ms: i64) -> Self {
        Self {
            session: manifest.session.clone(),
            owner: manifest.owner.clone(),
            failure,
            closed_ms,
            shards: manifest.shards,
            queries: manifest.queries.len(),
        }
    }
}

/// `holds/<epoch>`: the lease of the gateway that has the session's client, rewritten with another
/// heartbeat as long as it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub gateway: String,
    #[serde(rename = "beat")]
    pub heartbeat: u64,
}

/// `claims/<worker>`: whether a worker serves the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub worker: String,
    /// The reason why it does not.
    pub refusal: Option<String>,
}
