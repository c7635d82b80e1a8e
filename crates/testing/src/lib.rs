//! Common parts of all crates' tests: real extracts, a Python with packages, seeds, waiting, and a word about each
//! test that did not run.

mod data;
mod moto;
mod python;
mod seeds;
mod skip;
mod wait;

pub use data::shared;
pub use moto::Moto;
pub use python::python;
pub use seeds::Seeds;
pub use skip::{skip, skip_on_this_machine};
pub use wait::{until, wait_until};
