//! Reasons why an object cannot be read.

use std::error::Error as StdError;
use std::io;

use caudal_core::limits;
use object_store::Error;

/// What became of a request. Travels within an [`io::Error`] through whoever reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("there is no such object")]
    Missing,
    #[error("it has changed")]
    Changed,
    #[error("access is denied: {0}")]
    Denied(String),
    #[error("{0}")]
    Unreadable(String),
    /// An answer broke off, or none came: another try may do better.
    #[error("{0}")]
    Cut(String),
}

impl Failure {
    /// Of a request to the object, whose secret is not to be told.
    pub fn of(error: &Error, secret: Option<&str>) -> Failure {
        let causes = causes(error);
        let is = |kind: fn(&Error) -> bool| {
            causes.iter().any(|cause| cause.downcast_ref::<Error>().is_some_and(kind))
        };
        let why = causes.last().map_or_else(|| error.to_string(), ToString::to_string);
        let why = shown(&why, secret);
        if is(|error| matches!(error, Error::Precondition { .. })) {
            Failure::Changed
        } else if is(|error| matches!(error, Error::NotFound { .. })) {
            Failure::Missing
        } else if is(|error| {
            matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
        }) {
            Failure::Denied(why)
        } else if causes.iter().any(|cause| is_of_credentials(&cause.to_string())) {
            Failure::Denied(format!(
                "the environment has no credentials, nor has this machine ({why})"
            ))
        } else {
            Failure::Unreadable(why)
        }
    }

    /// What an error of reading is, if it is one of these.
    pub fn of_io(error: &io::Error) -> Option<&Failure> {
        error.get_ref()?.downcast_ref()
    }

    /// An answer that is shorter than it said.
    pub fn ended() -> Failure {
        Failure::Cut("its answer ended too early".to_string())
    }

    /// The same of an answer that had begun: the rest may be asked for.
    pub fn cut(self) -> Failure {
        match self {
            Failure::Unreadable(why) => Failure::Cut(why),
            other => other,
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> io::Error {
        io::Error::other(failure)
    }
}

/// An error and what it was made of.
fn causes(error: &Error) -> Vec<&(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    std::iter::successors(Some(first), |&error| error.source()).collect()
}

/// Whether a request was one for credentials, of which a machine in a cloud has some: it is asked where nothing else is said.
fn is_of_credentials(cause: &str) -> bool {
    ["169.254.169.254", "169.254.170.2", "metadata.google.internal"]
        .iter()
        .any(|host| cause.contains(host))
}

/// Whether a server has answered a request with this status.
pub fn has_status(error: &Error, status: u16) -> bool {
    let status = format!("status code: {status}");
    causes(error).last().is_some_and(|cause| cause.to_string().contains(&status))
}

/// What a server says, on one line and without what lets others in.
fn shown(why: &str, secret: Option<&str>) -> String {
    let mut why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
        why = why.replace(secret, "…");
    }
    why = why.trim_start_matches("Server returned non-2xx status code: ").to_string();
    match why.char_indices().nth(limits::REMOTE_ERROR_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &why[..cut]),
        None => why.trim_end_matches([':', ' ']).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lets_others_in_is_not_told() {
        let secret = Some("X-Amz-Signature=abc");
        let why = "Server returned non-2xx status code: 500 Oh: no\n /x?X-Amz-Signature=abc";
        assert_eq!(shown(why, secret), "500 Oh: no /x?…");
        assert_eq!(shown("Server returned non-2xx status code: 503 Gone: ", None), "503 Gone");
        assert_eq!(
            shown(&"x".repeat(500), None).chars().count(),
            limits::REMOTE_ERROR_CHARS_MAX + 1
        );
    }

    #[test]
    fn a_change_is_known_wherever_it_is_wrapped() {
        let precondition = Error::Precondition { path: "x".into(), source: "412".into() };
        let wrapped = Error::Generic { store: "S3", source: Box::new(precondition) };
        assert_eq!(Failure::of(&wrapped, None), Failure::Changed);
        let generic = Error::Generic { store: "S3", source: "no route".into() };
        assert_eq!(Failure::of(&generic, None), Failure::Unreadable("no route".into()));
    }
}
