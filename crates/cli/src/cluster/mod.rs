//! A cluster on this machine: what its folder holds, and its processes.

pub mod args;
pub mod nodes;
pub mod process;
pub mod state;
