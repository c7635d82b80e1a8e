//! The SQL functions of Caudal's domain: Python literals, the language and the sentiment of texts.
//!
//! Each function is a module of plain Rust over `&str`; `udf` makes them known to DataFusion.

pub mod language;
pub mod python_literal;
pub mod sentiment;
mod udf;

pub use udf::all;
