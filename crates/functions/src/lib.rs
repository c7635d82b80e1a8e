//! The SQL functions of Caudal's domain: Python literals, the language and the sentiment of texts.
//!
//! Each function is a module of plain Rust over `&str`; `udf` makes them known to DataFusion. Besides, what
//! replaces functions and operators of DataFusion: `checked` (numbers that do not wrap), `exact` (what is
//! otherwise off), `bounded` (what makes much of little), `ranks` (with a sign).

pub mod bounded;
pub mod checked;
pub mod exact;
pub mod language;
pub mod python_literal;
mod ranks;
pub mod sentiment;
mod udf;
mod version;

use datafusion::prelude::SessionContext;
pub use udf::all;

/// Makes a session know all of them.
pub fn register(context: &SessionContext) {
    udf::all().into_iter().for_each(|function| context.register_udf(function));
    bounded::scalars().into_iter().for_each(|function| context.register_udf(function));
    exact::scalars().into_iter().for_each(|function| context.register_udf(function));
    exact::aggregates().into_iter().for_each(|function| context.register_udaf(function));
    checked::aggregates().into_iter().for_each(|function| context.register_udaf(function));
    ranks::windows().into_iter().for_each(|function| context.register_udwf(function));
}
