//! The store: objects that survive a process, and the records that sessions and shards keep in them.
//!
//! - A [`Store`] holds objects by name. [`open`] finds one by its address: a directory ([`Directory`])
//!   or an object store ([`Remote`]).
//! - [`SessionRecords`] are those of one session, each by its type: manifest, tombstone, claims, the
//!   [`Lease`], a [`RetryMarker`]. [`slots`] bound how many sessions there are.
//! - A [`Journal`] is a shard's numbered records. Creating the next one is the fence between two
//!   processes that both believe they own the shard. [`Loader`] reads it back.
//! - An [`OutputWriter`] keeps what a completed stage gives out, and commits it at most once:
//!   [`Committed`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "a simulation runs it"))]

mod address;
mod allowance;
mod directory;
mod error;
mod journal;
mod lease;
mod load;
mod mutants;
mod outputs;
mod record;
mod remote;
mod retry_marker;
mod sealed;
mod session;
pub mod slots;
mod store;

pub use address::open;
pub use allowance::Allowance;
pub use directory::Directory;
pub use error::Error;
pub use journal::{Journal, Size};
pub use lease::{LatestLease, Lease, Renewed};
pub use load::Loader;
pub use outputs::{Committed, OutputWriter, committed};
pub use record::Record;
pub use remote::Remote;
pub use retry_marker::RetryMarker;
pub use session::{SessionRecords, SessionState, Standing, closed_sessions, sessions};
pub use store::{Created, Store, StoreError};
