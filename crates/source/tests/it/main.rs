//! Tables of files, read whole.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;
mod compressed;
mod damaged;
mod formats;
mod json;
mod pipes;
mod pruned;
mod python;
mod said;
mod sources;
mod write;
