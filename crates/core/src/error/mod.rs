//! Interface of every error of Caudal, and the codes that errors have.
//!
//! A code is stable: scripts may match on it, and `docs/errors/` has a page for it. What kind of error
//! it is and whether trying again can help is declared with it, never read from a message.

mod code;
pub mod codes;
mod failure;
mod nearest;

pub use code::{Code, Kind, NotACode};
pub use failure::Failure;
pub use nearest::{edit_distance, nearest};

/// An error that a person, a script and a retry loop can each make sense of. Its text is whole: it needs
/// no source to be understood.
pub trait Coded: std::error::Error {
    /// The stable code.
    fn code(&self) -> Code;

    /// Advice on what to do about it, when that is not plain from the message.
    fn hint(&self) -> Option<String> {
        None
    }

    /// The place in a query's text, drawn.
    fn excerpt(&self) -> Option<String> {
        None
    }

    /// Whether the same call may succeed later.
    fn is_retryable(&self) -> bool {
        self.code().is_retryable()
    }

    /// Failures to report: the error itself, unless it stands for several.
    fn failures(&self) -> Vec<Failure> {
        vec![Failure::of(self)]
    }
}
