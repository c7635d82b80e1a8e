//! Keeps a cluster at strength: monitors find out who is dead, elect one of them, and that one has the
//! dead brought back.
//!
//! What decides is pure: `brain` is `detect`, `elect` and `revive` over (event, now) → actions, and
//! `launch::decide`. The simulation in `tests/` runs exactly these. Sockets, processes and files are at
//! the edge: `service`, `post`, `health`, `launch`.
//!
//! A wrong verdict costs time, never an answer: the journal is the fence (docs/adr/004).

pub mod ask;
pub mod brain;
pub mod detect;
pub mod elect;
pub mod folder;
pub mod health;
pub mod launch;
pub mod limits;
pub mod members;
pub mod revive;
pub mod service;
pub mod wire;

mod error;
mod ids;
mod post;
mod process;

use caudal_failpoint as failpoint;

pub use error::Error;
pub use ids::{NodeId, Process};
