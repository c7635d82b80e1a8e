//! Errors of a node that cannot take part in a watched cluster.

use std::io;
use std::path::PathBuf;

use caudal_core::limits;
use caudal_core::{Code, Coded, codes};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot use the cluster file {}: {reason}", path.display())]
    ClusterFile { path: PathBuf, reason: String },
    #[error("{name} is not in the cluster file {}", path.display())]
    NotAMember { name: String, path: PathBuf },
    #[error("cannot read the cluster's secret in {}: {reason}", path.display())]
    Secret { path: PathBuf, reason: String },
    #[error("cannot listen for health checks on {address}: {source}")]
    Listen { address: String, source: io::Error },
    #[error("{name} is running already on this machine")]
    Twice { name: String },
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::ClusterFile { .. } => codes::CLUSTER_FILE_UNUSABLE,
            Error::NotAMember { .. } => codes::NOT_A_MEMBER,
            Error::Secret { .. } => codes::SECRET_UNREADABLE,
            Error::Listen { .. } => codes::HEALTH_CANNOT_LISTEN,
            Error::Twice { .. } => codes::NODE_RUNNING,
            Error::Folder { .. } => codes::CLUSTER_FOLDER_UNUSABLE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::Twice { .. } => {
                let seconds = limits::NODE_LOCK_MS / 1000;
                Some(format!("it did not leave within {seconds} s; caudal status shows it"))
            }
            Error::NotAMember { .. } => Some("--name has to be the name of a node in it".into()),
            _ => None,
        }
    }
}
