//! Runs stages on batches.
//!
//! - [`map`]: a fragment of a table through every map stage that reads it, anywhere, any number of
//!   times;
//! - [`shard`]: what one shard gathers, exactly once, and which of its stages are complete;
//! - [`complete`]: a complete stage, once, by DataFusion.
//!
//! No I/O but spilling, no clock, no messages: the services move what goes in and comes out.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "a simulation runs it"))]

mod bind;
mod compact;
pub mod complete;
mod early;
pub mod engine;
pub mod error;
mod gather;
mod joins;
pub mod map;
pub mod memory;
mod merge;
mod mutants;
mod pace;
mod partition;
pub mod shard;
mod source;

pub use compact::compact;
pub use complete::StageOutput;
pub use engine::Engine;
pub use error::Error;
pub use map::MapOutput;
pub use memory::Memory;
pub use shard::{Shard, ShardState, Taken};
