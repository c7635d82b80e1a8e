//! Keeps a cluster at strength: monitors find out who is dead, elect one of them, and that one has the
//! dead brought back.
//!
//! The decisions are pure: `state` is `detect`, `elect` and `revive` over (event, now) → actions, and
//! `launch::decide`. The simulation in `tests/` runs exactly these. Sockets, processes and files are at
//! the edge: `service`, `pings`, `transport`, `health`, `launch`.
//!
//! A wrong verdict costs time, never an answer: the journal is the fence (docs/adr/004).

pub mod detect;
pub mod elect;
pub mod folder;
pub mod health;
pub mod launch;
pub mod members;
pub mod probe;
pub mod revive;
pub mod service;
pub mod state;
pub mod wire;

mod error;
mod ids;
mod pings;
mod process;
mod transport;

use caudal_runtime::failpoint;

pub use error::Error;
pub use ids::{NodeId, Process};
