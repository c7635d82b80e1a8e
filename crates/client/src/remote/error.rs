//! Why a session on a cluster does not go on.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use caudal_core::{Code, Coded};
use caudal_protocol::{Failure, calls};
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
    Unanswerable(Vec<calls::Refusal>),
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

impl Error {
    /// Whether the way to the cluster is the trouble, rather than what was asked of it.
    pub fn is_of_connection(&self) -> bool {
        match self {
            Error::NoGateway { .. }
            | Error::Address { .. }
            | Error::Garbled { .. }
            | Error::Token
            | Error::Tls { .. } => true,
            Error::Refused(refusal) => refusal.is_of_access(),
            Error::Unanswerable(_)
            | Error::Failed(_)
            | Error::FragmentTooLarge { .. }
            | Error::Unfit { .. } => false,
        }
    }
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Error::NoGateway { .. } => "CDL-9001",
            Error::Refused(refusal) => refusal.code.as_deref().map_or("CDL-9002", lasting),
            Error::Unanswerable(refusals) => {
                refusals.first().map_or("CDL-9002", |refusal| lasting(&refusal.code))
            }
            Error::Failed(failure) => lasting(&failure.code),
            Error::Address { .. } => "CDL-9003",
            Error::Garbled { .. } => "CDL-9004",
            Error::FragmentTooLarge { .. } => "CDL-9005",
            Error::Token => "CDL-9006",
            Error::Tls { .. } => "CDL-9007",
            Error::Unfit { .. } => "CDL-9008",
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
            Error::Failed(_) | Error::Token | Error::Tls { .. } | Error::Unfit { .. } => None,
        }
    }
}

/// A code that came over the wire, for as long as the program runs. There are few, so each is kept
/// once and for good.
fn lasting(code: &str) -> Code {
    static KNOWN: Mutex<Vec<Code>> = Mutex::new(vec![]);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.iter().find(|known| **known == code) {
        return known;
    }
    let lasting = Box::leak(code.to_string().into_boxed_str());
    known.push(lasting);
    lasting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_from_the_wire_is_kept_once() {
        assert_eq!(lasting("CDL-2003"), "CDL-2003");
        assert!(std::ptr::eq(lasting("CDL-2003"), lasting(&["CDL", "2003"].join("-"))));
    }
}
