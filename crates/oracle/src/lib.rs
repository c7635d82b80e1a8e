//! What tests compare with: random tables and queries, TPC-H, and what makes two answers the same.

mod compare;
pub mod lookalikes;
pub mod random_sql;
pub mod tpch;

pub use compare::{compare, is_part};
