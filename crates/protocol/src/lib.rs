//! The formats on the wire and in the store: `docs/protocol.md` in Rust.
//!
//! - between client and gateway: [`calls`], [`schema`], [`encoding`];
//! - between a gateway and those who plan for it: [`outline`];
//! - in queues: [`message`] and how it is [`wire`]d, [`queues`] for their names;
//! - rows, wherever they are: [`ipc`];
//! - in the store: [`manifest`] and the other records of a session, [`objects`] for their names.
//!
//! Nothing here decides anything: that is `caudal-core`.

pub mod calls;
pub mod encoding;
pub mod ipc;
pub mod manifest;
pub mod message;
pub mod objects;
pub mod outline;
pub mod queues;
pub mod schema;
pub mod size;
pub mod wire;

/// The form of an error that is sent and stored.
pub use caudal_core::Failure;
pub use message::{FragmentPart, Message, Section, TableFragment};
pub use objects::Objects;
pub use queues::Queues;
