//! Tables of files, read whole.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;
mod compressed;
mod damaged;
mod formats;
mod fuzz;
mod json;
mod late;
mod pipes;
mod said;
mod sources;
mod write;
