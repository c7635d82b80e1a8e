//! Breaks the cluster on this machine, to see it mend.

pub mod blows;
pub mod choice;
