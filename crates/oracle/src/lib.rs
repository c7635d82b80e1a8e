//! References for tests to compare with: random tables and queries, TPC-H, and the equality of two answers.

mod compare;
pub mod lookalikes;
pub mod random_sql;
pub mod tpch;

pub use compare::compare;
