//! The whole session path, in one process, against DataFusion alone.

mod differential;
mod early;
mod faults;
mod harness;
mod memory;
mod random_sql;
mod tpch;
