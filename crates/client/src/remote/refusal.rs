//! Refusals: answers of a gateway, or of the way to it, instead of what was asked for.
//!
//! What a client does about it is decided by the status and by the headers of
//! [`caudal_protocol::calls`], never by the text.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use caudal_protocol::calls::{CODE_HEADER, EXCERPT_HEADER, HINT_HEADER, RETRY_MS_HEADER};
use tonic::{Code, Status};

#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: Code,
    /// Of whoever speaks Caudal; none where something else on the way did not let us through.
    pub code: Option<caudal_core::Code>,
    pub message: String,
    /// The place in a query's text, drawn.
    pub excerpt: Option<String>,
    pub hint: Option<String>,
    /// Not to be asked again before.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Whether another gateway, or this one later, may do what it was asked.
    ///
    /// A gateway says so by its status. What carries no code of ours is no gateway's answer, but a broken connection in one
    /// of its many guises (a GOAWAY, a proxy's error), unless it is our own word: about a message that is garbled, or
    /// larger than it may be.
    pub fn is_passing(&self) -> bool {
        match (self.code, self.status) {
            (Some(_), status) => status == Code::Unavailable,
            (None, Code::DataLoss | Code::OutOfRange) => false,
            (None, _) => true,
        }
    }

    /// Whether it says only that this client has come by another way since: the stream is to be opened
    /// again, and nothing is wrong with the gateway.
    pub fn is_superseded(&self) -> bool {
        self.status == Code::Aborted && self.code.is_some()
    }

    /// Whether it is our own word about what a gateway sent: see [`garbled`].
    pub fn is_garbled(&self) -> bool {
        self.status == Code::DataLoss && self.code.is_none()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(_) => f.write_str(&self.message),
            None => write!(f, "the gateway refuses: {} ({:?})", self.message, self.status),
        }
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let header = |name| {
            let value = status.metadata().get(name)?;
            value.to_str().ok().map(str::to_string)
        };
        let text = |name| String::from_utf8(BASE64_STANDARD.decode(header(name)?).ok()?).ok();
        let retry_after = header(RETRY_MS_HEADER).and_then(|ms| ms.parse().ok());
        Self {
            status: status.code(),
            code: header(CODE_HEADER).and_then(|code| code.parse().ok()),
            message: status.source().map_or_else(|| status.message().to_string(), root_cause),
            excerpt: text(EXCERPT_HEADER),
            hint: text(HINT_HEADER),
            retry_after: retry_after.map(Duration::from_millis),
        }
    }
}

/// Status for a message that is not what it should be.
pub fn garbled(what: &str, error: &impl fmt::Display) -> Status {
    Status::data_loss(format!("{what} is garbled: {error}"))
}

/// The innermost error: the outer ones of a transport only say that it is one.
pub fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use caudal_core::codes;
    use tonic::metadata::MetadataMap;

    use super::*;

    fn said(status: Code, headers: &[(&'static str, &str)]) -> Refusal {
        let mut metadata = MetadataMap::new();
        for (name, value) in headers {
            metadata.insert(*name, value.parse().unwrap());
        }
        Status::with_metadata(status, "no", metadata).into()
    }

    #[test]
    fn code_hint_and_pause_come_from_the_headers() {
        let hint = BASE64_STANDARD.encode("¿otra vez?");
        let code = codes::BAD_REQUEST.to_string();
        let headers = [(CODE_HEADER, &*code), (HINT_HEADER, &hint), (RETRY_MS_HEADER, "250")];
        let refusal = said(Code::ResourceExhausted, &headers);
        assert_eq!(refusal.code, Some(codes::BAD_REQUEST));
        assert_eq!(refusal.hint.as_deref(), Some("¿otra vez?"));
        assert_eq!(refusal.retry_after, Some(Duration::from_millis(250)));
        assert_eq!(refusal.to_string(), "no");
        assert!(!refusal.is_passing());
    }

    #[test]
    fn a_gateway_decides_whether_trying_elsewhere_helps() {
        let code = codes::UNKNOWN_TOKEN.to_string();
        let ours = [(CODE_HEADER, &*code)];
        assert!(said(Code::Unavailable, &ours).is_passing());
        assert!(said(Code::Unavailable, &[]).is_passing());
        assert!(said(Code::Unknown, &[]).is_passing());
        assert!(!said(Code::Internal, &ours).is_passing());
        assert!(!said(Code::Unauthenticated, &ours).is_passing());
        assert!(!said(Code::OutOfRange, &[]).is_passing());
    }

    #[test]
    fn what_no_gateway_has_said_means_another_gateway() {
        // ENHANCE_YOUR_CALM, a proxy that knows no token, one that knows no such path.
        for status in [Code::ResourceExhausted, Code::Unauthenticated, Code::Unimplemented] {
            assert!(said(status, &[]).is_passing(), "{status:?}");
        }
        assert!(!Refusal::from(garbled("the answer", &"no")).is_passing());
    }
}
