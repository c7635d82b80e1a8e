//! References for tests to compare with: random tables and queries, TPC-H, DataFusion alone, and the equality of two
//! answers.

mod compare;
pub mod lookalikes;
mod plain;
pub mod random_sql;
mod table;
pub mod tpch;

pub use compare::{compare, is_part};
pub use plain::Plain;
pub use table::{Table, fragments};
