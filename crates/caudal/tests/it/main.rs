//! The whole session path, in one process, against DataFusion alone.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod around;
mod differential;
mod early;
mod examples;
mod faults;
mod fence;
mod front;
mod harness;
mod lookalikes;
mod memory;
mod overflow;
mod patience;
mod random_sql;
mod right;
mod slow_store;
mod takeover;
mod tpch;
