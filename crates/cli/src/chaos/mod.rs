//! Breaks the cluster on this machine, to see it mend.

pub mod choice;
pub mod faults;
