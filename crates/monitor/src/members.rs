//! The cluster file: which nodes there are, where they answer, how they are started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use caudal_core::limits::{NODE_NAME_BYTES_MAX, NODES_MAX};
use serde::{Deserialize, Serialize};

use crate::NodeId;
use crate::state::Peer;

/// The nodes of the cluster file; other programs may add to the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    pub nodes: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: NodeId,
    pub name: String,
    pub role: Role,
    /// The machine it runs on, by any name that tells machines apart.
    pub host: String,
    /// Address for health checks (UDP) and, of a monitor, for the other monitors (TCP): host:port.
    pub health: String,
    pub launch: Launch,
    /// Address for clients, of a gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
}

/// The way in which a node is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    Process {
        program: PathBuf,
        arguments: Vec<String>,
    },
    /// A container that is there, running or not, of the Engine behind this socket.
    Docker {
        container: String,
        #[serde(default = "docker_socket")]
        socket: PathBuf,
    },
}

fn docker_socket() -> PathBuf {
    "/var/run/docker.sock".into()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Keeps a RabbitMQ running.
    Broker,
    Gateway,
    Worker,
    Monitor,
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Role::Broker => "broker",
            Role::Gateway => "gateway",
            Role::Worker => "worker",
            Role::Monitor => "monitor",
        })
    }
}

impl Members {
    pub fn named(&self, name: &str) -> Option<&Member> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub fn get(&self, id: NodeId) -> Option<&Member> {
        self.nodes.iter().find(|node| node.id == id)
    }

    pub fn monitors(&self) -> impl Iterator<Item = &Member> {
        self.nodes.iter().filter(|node| node.role == Role::Monitor)
    }

    pub fn peers(&self) -> BTreeMap<NodeId, Peer> {
        let peer = |node: &Member| {
            let is_monitor = node.role == Role::Monitor;
            (node.id, Peer { is_monitor, host: node.host.clone() })
        };
        self.nodes.iter().map(peer).collect()
    }

    /// The reason why these cannot be the nodes of a cluster.
    pub fn check(&self) -> Result<(), String> {
        if self.nodes.len() > NODES_MAX {
            return Err(format!("more than {NODES_MAX} nodes"));
        }
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        for node in &self.nodes {
            if !is_name(&node.name) {
                return Err(format!("{:?} is not a name", node.name));
            }
            if !ids.insert(node.id) || !names.insert(&node.name) {
                return Err(format!("two nodes are called {} or have its id", node.name));
            }
            if let Launch::Docker { container, .. } = &node.launch
                && !is_name(container)
            {
                return Err(format!("{}: {container:?} is not the name of a container", node.name));
            }
            let port = node.health.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
            if !matches!(port, Some(Ok(_))) {
                return Err(format!("{}: {:?} is not host:port", node.name, node.health));
            }
        }
        Ok(())
    }
}

/// Names become parts of paths, and of addresses.
fn is_name(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    starts_well && name.len() <= NODE_NAME_BYTES_MAX && name.chars().all(is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: u32, name: &str) -> Member {
        Member {
            id: NodeId(id),
            name: name.to_string(),
            role: Role::Worker,
            host: "here".to_string(),
            health: "127.0.0.1:7".to_string(),
            launch: Launch::Process { program: "caudal".into(), arguments: vec![] },
            listen: None,
        }
    }

    #[test]
    fn names_and_ids_are_unique_and_plain() {
        let check = |nodes: &[Member]| Members { nodes: nodes.to_vec() }.check();
        assert_eq!(check(&[member(1, "worker-1"), member(2, "worker-2")]), Ok(()));
        assert!(check(&[member(1, "a"), member(1, "b")]).is_err());
        assert!(check(&[member(1, "a"), member(2, "a")]).is_err());
        for bad in ["", "../etc/passwd", "a/b", ".hidden", "a b"] {
            assert!(check(&[member(1, bad)]).is_err(), "{bad}");
        }
        let nowhere = Member { health: "here".into(), ..member(1, "a") };
        assert!(check(&[nowhere]).is_err());
    }
}
