//! Errors as gRPC says them: a status, with what Caudal knows beyond it in headers.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use caudal_core::{Coded, Failure, limits};
use caudal_protocol::calls::{CODE_HEADER, EXCERPT_HEADER, HINT_HEADER, RETRY_MS_HEADER};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::Error;

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let Failure { code, message, hint, excerpt } = told(&error);
        let mut headers = MetadataMap::new();
        insert(&mut headers, CODE_HEADER, code.to_string());
        if let Some(hint) = hint {
            insert(&mut headers, HINT_HEADER, BASE64_STANDARD.encode(shortened(hint)));
        }
        // A line too long for a header is left out: a caret has no place in half a line.
        if let Some(excerpt) = excerpt.filter(|text| text.len() <= limits::ERROR_TEXT_BYTES_MAX) {
            insert(&mut headers, EXCERPT_HEADER, BASE64_STANDARD.encode(excerpt));
        }
        if error.is_retryable() {
            insert(&mut headers, RETRY_MS_HEADER, limits::SESSIONS_RETRY_MS.to_string());
        }
        Status::with_metadata(grpc_code(&error), shortened(message), headers)
    }
}

/// A session's failure is told as what it is, not as our error that there is one.
fn told(error: &Error) -> Failure {
    match error {
        Error::Over { failure: Some(failure), .. } => failure.clone(),
        error => Failure::of(error),
    }
}

fn grpc_code(error: &Error) -> Code {
    match error {
        Error::Unauthenticated => Code::Unauthenticated,
        Error::NoSession { .. } => Code::PermissionDenied,
        Error::TooManySessions { .. } | Error::ShareTaken { .. } => Code::ResourceExhausted,
        Error::BadRequest { .. }
        | Error::WrongSchema { .. }
        | Error::BadFragment { .. }
        | Error::TooLarge { .. } => Code::InvalidArgument,
        Error::Over { .. } => Code::FailedPrecondition,
        Error::Planning(error) if !error.is_retryable() => Code::InvalidArgument,
        Error::LeaseLost { .. } => Code::Aborted,
        // The broker does not let this gateway in; it may let in another.
        Error::Broker(caudal_broker::Error::Refused { .. }) => Code::Unavailable,
        other if other.is_retryable() => Code::Unavailable,
        _ => Code::Internal,
    }
}

/// Clients take headers of a few kilobytes.
fn shortened(mut text: String) -> String {
    if text.len() > limits::ERROR_TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(limits::ERROR_TEXT_BYTES_MAX));
        text.push('…');
    }
    text
}

fn insert(headers: &mut MetadataMap, name: &'static str, value: String) {
    let value = MetadataValue::try_from(value).unwrap_or(MetadataValue::from_static("?"));
    headers.insert(name, value);
}

#[cfg(test)]
mod tests {
    use caudal_core::{SessionId, codes};

    use super::*;

    fn header(status: &Status, name: &str) -> Option<String> {
        Some(status.metadata().get(name)?.to_str().unwrap().to_string())
    }

    #[test]
    fn a_refusal_says_what_to_do_and_when() {
        let status = Status::from(Error::TooManySessions { sessions_max: 8 });
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert_eq!(header(&status, CODE_HEADER).unwrap(), codes::TOO_MANY_SESSIONS.to_string());
        assert_eq!(header(&status, RETRY_MS_HEADER).unwrap(), "2000");
        let hint = BASE64_STANDARD.decode(header(&status, HINT_HEADER).unwrap()).unwrap();
        assert!(String::from_utf8(hint).unwrap().starts_with("try again"));
    }

    #[test]
    fn a_session_that_failed_is_told_by_its_failure() {
        let failure = Failure::new(codes::DATA, "division by zero");
        let session = SessionId("s".into());
        let status = Status::from(Error::Over { session, failure: Some(failure) });
        assert_eq!(header(&status, CODE_HEADER).unwrap(), codes::DATA.to_string());
        assert_eq!(status.message(), "division by zero");
        assert!(header(&status, RETRY_MS_HEADER).is_none());
    }

    #[test]
    fn what_is_this_gateways_own_trouble_sends_clients_to_another() {
        let refused = caudal_broker::Error::Refused { reason: "no permission".into() };
        assert_eq!(Status::from(Error::Broker(refused)).code(), Code::Unavailable);
        let reason = "no answer".to_string();
        let failed = caudal_store::StoreError::Failed { action: "read", name: "s".into(), reason };
        assert_eq!(Status::from(Error::Store(failed)).code(), Code::Unavailable);
    }

    #[test]
    fn a_text_too_long_for_a_header_is_cut() {
        let reason = "é".repeat(limits::ERROR_TEXT_BYTES_MAX);
        let status = Status::from(Error::BadRequest { what: "it", reason });
        assert!(status.message().ends_with('…'));
        assert!(status.message().len() < limits::ERROR_TEXT_BYTES_MAX + 8);
    }
}
