//! Many clients at once, each checked.

pub mod client;
pub mod errand;
pub mod report;
