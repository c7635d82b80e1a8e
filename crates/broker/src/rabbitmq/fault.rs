//! Faults: what an error of the AMQP client means.

use lapin::ErrorKind;
use lapin::protocol::{AMQPErrorKind, AMQPHardError, AMQPSoftError};

#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no queue of that name.
    NoQueue,
    /// Asking again will bring the same answer.
    Refused(String),
    /// A channel or its connection is gone. Whether the last request arrived is not known.
    Lost(String),
}

impl From<lapin::Error> for Fault {
    fn from(error: lapin::Error) -> Self {
        let reason = error.to_string();
        let ErrorKind::ProtocolError(protocol) = error.kind() else {
            return match error.kind() {
                ErrorKind::ChannelsLimitReached => Fault::Refused(reason),
                _ => Fault::Lost(reason),
            };
        };
        match protocol.kind() {
            AMQPErrorKind::Soft(AMQPSoftError::NOTFOUND) => Fault::NoQueue,
            AMQPErrorKind::Soft(_)
            | AMQPErrorKind::Hard(
                AMQPHardError::NOTALLOWED
                | AMQPHardError::NOTIMPLEMENTED
                | AMQPHardError::INVALIDPATH,
            ) => Fault::Refused(reason),
            AMQPErrorKind::Hard(_) => Fault::Lost(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use lapin::protocol::AMQPError;

    use super::*;

    fn fault(kind: impl Into<AMQPErrorKind>) -> Fault {
        ErrorKind::ProtocolError(AMQPError::new(kind.into(), "why".into())).into_fault()
    }

    trait IntoFault {
        fn into_fault(self) -> Fault;
    }

    impl IntoFault for ErrorKind {
        fn into_fault(self) -> Fault {
            lapin::Error::from(self).into()
        }
    }

    #[test]
    fn only_what_may_succeed_later_is_tried_again() {
        assert_eq!(fault(AMQPSoftError::NOTFOUND), Fault::NoQueue);
        for refused in [AMQPSoftError::ACCESSREFUSED, AMQPSoftError::PRECONDITIONFAILED] {
            assert!(matches!(fault(refused), Fault::Refused(_)));
        }
        assert!(matches!(fault(AMQPHardError::NOTALLOWED), Fault::Refused(_)));
        assert!(matches!(fault(AMQPHardError::CONNECTIONFORCED), Fault::Lost(_)));
        assert!(matches!(ErrorKind::MissingHeartbeatError.into_fault(), Fault::Lost(_)));
    }
}
