//! Identities: a node of the cluster, and a process that it runs as.

use serde::{Deserialize, Serialize};

/// A node, by its number in the cluster file. Of the monitors that live, the highest leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// One incarnation of a node. A pid alone may belong to another process by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// In clock ticks since the machine started, as /proc says.
    pub started: u64,
}
