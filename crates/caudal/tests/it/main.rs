//! The whole session path, in one process, against DataFusion alone.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod bounds;
mod differential;
mod early;
mod examples;
mod faulty_mapper;
mod front;
#[allow(dead_code, reason = "what the tests of workers need")]
mod harness;
mod lookalikes;
mod memory;
mod only_needed;
mod overflow;
mod random_sql;
mod right;
mod tpch;
