//! The engine alone: no broker, no journal, no tasks. Whatever is delivered, in whatever order and however often,
//! by whoever owns a shard meanwhile, the answer is the one that DataFusion gives.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod cluster;
mod exactness;
mod failures;
mod tables;
