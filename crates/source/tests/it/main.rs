//! Tables of files, read whole.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;
mod compressed;
mod damaged;
mod declared;
mod folders;
mod formats;
mod fuzz;
mod json;
mod late;
mod pipes;
mod pruned;
mod remote;
mod s3;
mod said;
mod server;
mod sources;
mod union;
mod write;
