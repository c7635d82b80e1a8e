//! Many clients at once, each checked.

pub mod client;
pub mod report;
pub mod workload;
