//! Reasons why a session on a cluster does not go on.

use std::fmt;

use caudal_core::{Code, Coded, Failure, codes};
use thiserror::Error;

use super::refusal::Refusal;

#[derive(Clone, Debug, Error)]
pub enum Error {
    #[error("no gateway has answered for {seconds} s: {}", listed(tried))]
    NoGateway { seconds: u64, tried: Vec<Tried> },
    #[error("{0}")]
    Refused(Refusal),
    /// Not one of the queries can be answered.
    #[error("{}", .0.iter().map(|refusal| refusal.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Unanswerable(Vec<Failure>),
    /// The session has ended so, whoever asks.
    #[error("{}", .0.message)]
    Failed(Failure),
    #[error("{address:?} is not the address of a gateway: {reason}")]
    Address { address: String, reason: String },
    #[error("gateway {address} does not speak this client's language: {reason}")]
    Garbled { address: String, reason: String },
    #[error(
        "fragment {number} of table {table} takes {bytes} bytes on the wire; {bytes_max} are the most"
    )]
    FragmentTooLarge { table: String, number: u32, bytes: usize, bytes_max: usize },
    #[error("the token cannot be sent: it has characters other than visible ASCII")]
    Token,
    #[error("cannot set up TLS: {reason}")]
    Tls { reason: String },
    #[error("fragment {number} of table {table} is not what the session expects: {reason}")]
    Unfit { table: String, number: u32, reason: String },
}

/// A gateway that did not help, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub address: String,
    pub reason: String,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.address, self.reason)
    }
}

fn listed(tried: &[Tried]) -> String {
    tried.iter().map(Tried::to_string).collect::<Vec<_>>().join(", ")
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::NoGateway { .. } => codes::NO_GATEWAY,
            Error::Refused(refusal) => refusal.code.unwrap_or(codes::NOT_A_GATEWAY),
            Error::Unanswerable(refusals) => {
                refusals.first().map_or(codes::NOT_A_GATEWAY, |refusal| refusal.code)
            }
            Error::Failed(failure) => failure.code,
            Error::Address { .. } => codes::BAD_ADDRESS,
            Error::Garbled { .. } => codes::GATEWAY_GARBLED,
            Error::FragmentTooLarge { .. } => codes::FRAGMENT_TOO_LARGE,
            Error::Token => codes::BAD_TOKEN,
            Error::Tls { .. } => codes::TLS_CANNOT_START,
            Error::Unfit { .. } => codes::WRONG_FRAGMENT,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Error::NoGateway { .. } => {
                Some("is a gateway running there, and does it expect TLS (--ca FILE)?".to_string())
            }
            Error::Refused(refusal) => refusal.hint.clone(),
            Error::Address { .. } => Some("gateways are named host:port, as in a:7070".to_string()),
            Error::Garbled { .. } => Some("is it a Caudal gateway of this version?".to_string()),
            Error::FragmentTooLarge { .. } => {
                Some("a record of that size can only be read in one process".to_string())
            }
            Error::Unanswerable(refusals) => refusals.first()?.hint.clone(),
            Error::Failed(failure) => failure.hint.clone(),
            Error::Token | Error::Tls { .. } | Error::Unfit { .. } => None,
        }
    }

    fn excerpt(&self) -> Option<String> {
        match self {
            Error::Refused(refusal) => refusal.excerpt.clone(),
            Error::Unanswerable(refusals) => refusals.first()?.excerpt.clone(),
            Error::Failed(failure) => failure.excerpt.clone(),
            _ => None,
        }
    }

    fn failures(&self) -> Vec<Failure> {
        match self {
            Error::Unanswerable(refusals) => refusals.clone(),
            other => vec![Failure::of(other)],
        }
    }
}
