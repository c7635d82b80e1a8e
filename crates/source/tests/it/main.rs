//! Tables of files, read whole.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;
mod compressed;
mod damaged;
mod folders;
mod formats;
mod json;
mod pipes;
mod python;
mod remote;
mod s3;
mod said;
mod server;
mod sources;
mod union;
mod write;
