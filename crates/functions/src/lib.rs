//! The SQL functions of Caudal's domain: Python literals, the language and the sentiment of texts.
//!
//! Each function is a module of plain Rust over `&str`; `udf` makes them known to DataFusion. Besides, what
//! replaces functions and operators of DataFusion: `checked` (numbers that do not wrap), `ranks` (with a sign).

pub mod checked;
pub mod language;
pub mod python_literal;
mod ranks;
pub mod sentiment;
mod udf;

pub use checked::aggregates;
pub use ranks::windows;
pub use udf::all;
