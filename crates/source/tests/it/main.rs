//! Tables of files, read whole.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;
mod compressed;
mod damaged;
mod declared;
mod formats;
mod fuzz;
mod json;
mod late;
mod pipes;
mod pruned;
mod said;
mod sources;
mod write;
