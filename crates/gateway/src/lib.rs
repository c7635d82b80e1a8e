//! Sessions, as their clients see them: open, upload, read, close.
//!
//! - [`Session`] is a session's queues: all that a run in one process needs.
//! - [`Gateway`] serves the sessions of a cluster, for any number of clients, beside other gateways.
//!   Everything it knows is in the store and the broker, so it may be killed at any moment. One file
//!   an operation: [`open`], [`attach`], [`put`], [`results`], [`close`].
//! - [`planning`] is done by processes of its own: what a tenant writes cannot end a gateway.
//! - [`lost_queues`] makes queues again that the broker has lost.
//! - [`janitor`] removes what nobody needs any more.
//! - [`serve`] opens it all to the network, by Arrow Flight: [`flight`] is translation and nothing
//!   else.
//!
//! `docs/protocol.md` has the rules of the game.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "a simulation runs it"))]

pub mod attach;
pub mod close;
mod connections;
mod error;
pub mod flight;
mod gateway;
mod grpc_status;
mod incoming;
pub mod janitor;
mod long_works;
mod lost_queues;
pub mod open;
mod open_sessions;
mod places;
pub mod planning;
pub mod put;
mod quota;
pub mod results;
mod rows;
mod server;
mod session;
mod settings;
pub mod shutdown;
pub mod tokens;
mod watch;

pub use error::Error;
pub use gateway::Gateway;
pub use server::{serve, service};
pub use session::Session;
pub use settings::{Settings, TlsFiles};
pub use tokens::Owner;
