//! The journal and its stores, under faults.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod child;
mod conformance;
mod crashes;
mod faulty_store;
mod full_disk;
mod interleavings;
mod journals;
mod killed;
mod map_store;
mod outputs;
mod s3;
mod standing;
mod tally;
