//! The one clock and the one way to spawn of everything that `caudal-sim` runs.
//!
//! In production they are tokio's, and built without debug assertions nothing else is left of them. A
//! simulation puts its own in their place, for the thread it runs on: time that passes only when
//! nobody has anything to do ([`simulated`]), and tasks that belong to a node, which can be frozen or
//! lost with all of them at any await point ([`Scope`]).
//!
//! [`failpoint`] has the seams that tests use: points at which a process is ended, mutants, and bounds made small.
//!
//! Randomness needs nothing of the kind: `fastrand`'s functions draw from a generator of their
//! thread, which a simulation seeds. `clippy.toml` bans what goes past any of the three.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "a simulation runs it"))]

mod backoff;
pub mod compute;
pub mod failpoint;
mod level;
#[cfg(debug_assertions)]
mod scope;
#[cfg(debug_assertions)]
pub mod simulated;
pub mod task;
pub mod time;

pub use backoff::Backoff;
pub use level::Level;
#[cfg(debug_assertions)]
pub use scope::Scope;
