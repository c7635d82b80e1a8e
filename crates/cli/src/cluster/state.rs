//! The folder of a cluster on this machine.
//!
//! ```text
//! cluster.json       what the cluster consists of, and the processes it runs as
//! store/             sessions and journals, unless they are kept elsewhere
//! broker/            the private RabbitMQ, if it has one
//! logs/<node>.log    what each node says
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cluster::process::Process;
use crate::error::Failed;

const FILE: &str = "cluster.json";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    pub broker: String,
    pub store: String,
    /// The private RabbitMQ.
    pub rabbitmq: Option<PrivateBroker>,
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PrivateBroker {
    pub folder: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    pub role: Role,
    /// What `caudal` is called with to be this node.
    pub arguments: Vec<String>,
    /// Where clients connect, for a gateway.
    pub listen: Option<String>,
    pub process: Process,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Gateway,
    Worker,
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Role::Gateway => "gateway",
            Role::Worker => "worker",
        })
    }
}

impl Cluster {
    pub fn gateways(&self) -> String {
        let gateways: Vec<&str> = self.nodes.iter().filter_map(|n| n.listen.as_deref()).collect();
        gateways.join(",")
    }

    pub fn load(folder: &Path) -> Result<Option<Self>, Failed> {
        let file = folder.join(FILE);
        match fs::read(&file) {
            Ok(json) => serde_json::from_slice(&json).map(Some).map_err(|error| {
                Failed::usage("CDL-6021", format!("{} cannot be read: {error}", file.display()))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&file, &error)),
        }
    }

    /// Whole or not at all: another `caudal` may be reading it.
    pub fn save(&self, folder: &Path) -> Result<(), Failed> {
        let (file, new) = (folder.join(FILE), folder.join("cluster.json.new"));
        let json = serde_json::to_vec_pretty(self).expect("a cluster is plain data");
        fs::write(&new, json)
            .and_then(|()| fs::rename(&new, &file))
            .map_err(|error| unreadable(&file, &error))
    }

    /// Forgets the cluster; logs stay.
    pub fn remove(folder: &Path) -> Result<(), Failed> {
        let file = folder.join(FILE);
        fs::remove_file(&file).map_err(|error| unreadable(&file, &error))
    }
}

/// The cluster's folder, as an absolute path: its processes may live elsewhere.
pub fn make_folder(folder: &Path) -> Result<PathBuf, Failed> {
    fs::create_dir_all(folder.join("logs"))
        .and_then(|()| folder.canonicalize())
        .map_err(|error| unreadable(folder, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failed {
    Failed::usage("CDL-6020", format!("cannot use {}: {error}", path.display()))
}
