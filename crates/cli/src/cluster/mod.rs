//! A cluster on this machine: what its folder holds, and its processes.

pub mod args;
pub mod members;
pub mod nodes;
pub mod state;
