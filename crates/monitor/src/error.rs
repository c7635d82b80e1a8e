//! Errors of a node that cannot take part in a watched cluster.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::limits;

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

/// As `core::Coded`, which this crate cannot know.
impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::ClusterFile { .. } => "CDL-6030",
            Error::NotAMember { .. } => "CDL-6031",
            Error::Secret { .. } => "CDL-6032",
            Error::Listen { .. } => "CDL-6033",
            Error::Twice { .. } => "CDL-6034",
            Error::Folder { .. } => "CDL-6020",
        }
    }

    pub fn hint(&self) -> Option<String> {
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
