//! Content of a cluster on this machine: the file that `up` writes and monitors read. Its folder is
//! described in `caudal_monitor::folder`; beside that it has
//!
//! ```text
//! store/      sessions and journals, unless they are kept elsewhere
//! broker/     the private RabbitMQ, if it has one
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_core::codes;
use caudal_monitor::folder::{CLUSTER_FILE, Folder};
use caudal_monitor::members::{Member, Members, Role};
use serde::{Deserialize, Serialize};

use crate::error::{Failed, Told};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    pub broker: String,
    pub store: String,
    #[serde(flatten)]
    pub members: Members,
    /// Folder in which all of this was found.
    #[serde(skip)]
    path: PathBuf,
}

impl Cluster {
    /// One without nodes, in this folder.
    pub fn new(broker: String, store: String, folder: &Folder) -> Self {
        let path = folder.path().to_path_buf();
        Self { broker, store, members: Members::default(), path }
    }

    pub fn folder(&self) -> Folder {
        Folder::new(&self.path)
    }

    pub fn nodes(&self, role: Role) -> impl Iterator<Item = &Member> {
        self.members.nodes.iter().filter(move |node| node.role == role)
    }

    /// The RabbitMQ that it has of its own.
    pub fn rabbit(&self) -> Result<Option<PrivateRabbit>, Failed> {
        let has_one = self.nodes(Role::Broker).next().is_some();
        let found = has_one.then(|| PrivateRabbit::find(&broker_folder(&self.folder())));
        found.transpose().told()
    }

    pub fn gateways(&self) -> String {
        let nodes = self.members.nodes.iter();
        let gateways: Vec<&str> = nodes.filter_map(|node| node.listen.as_deref()).collect();
        gateways.join(",")
    }

    /// Whether a process of any node is there.
    pub fn is_running(&self) -> bool {
        let folder = self.folder();
        self.members.nodes.iter().any(|node| !folder.processes(&node.name).is_empty())
    }

    pub fn load(path: &Path) -> Result<Option<Self>, Failed> {
        let file = path.join(CLUSTER_FILE);
        match fs::read(&file) {
            Ok(json) => match serde_json::from_slice::<Self>(&json) {
                Ok(cluster) => Ok(Some(Self { path: path.to_path_buf(), ..cluster })),
                Err(error) => {
                    let message = format!("{} cannot be read: {error}", file.display());
                    Err(Failed::new(codes::CLUSTER_STATE_UNREADABLE, message))
                }
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable(&file, &error)),
        }
    }

    /// Whole or not at all: another `caudal` may be reading it.
    pub fn save(&self) -> Result<(), Failed> {
        let (file, new) = (self.path.join(CLUSTER_FILE), self.path.join("cluster.json.new"));
        let json = serde_json::to_vec_pretty(self).expect("a cluster is plain data");
        fs::write(&new, json)
            .and_then(|()| fs::rename(&new, &file))
            .map_err(|error| unusable(&file, &error))
    }

    /// Forgets the cluster; logs stay.
    pub fn remove(&self) -> Result<(), Failed> {
        let file = self.path.join(CLUSTER_FILE);
        fs::remove_file(&file).map_err(|error| unusable(&file, &error))
    }
}

/// Folder of the private RabbitMQ of a cluster.
pub fn broker_folder(folder: &Folder) -> PathBuf {
    folder.path().join("broker")
}

/// The cluster's folder, as an absolute path: its processes may live elsewhere.
pub fn make_folder(path: &Path) -> Result<Folder, Failed> {
    let made = fs::create_dir_all(path).and_then(|()| path.canonicalize());
    made.map(Folder::new).map_err(|error| unusable(path, &error))
}

pub fn unusable(path: &Path, error: &std::io::Error) -> Failed {
    Failed::new(codes::CLUSTER_FOLDER_UNUSABLE, format!("cannot use {}: {error}", path.display()))
}
