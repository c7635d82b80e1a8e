//! Suites: tables and questions in a folder, and comparing the answers.
//!
//! A suite is a `suite.toml` and one `.sql` file per query. Four ship inside the binary ([`NAMES`]);
//! a user's own is loaded from its folder, in the same format and through the same checks.
//!
//! ```
//! let suite = caudal_suite::Suite::builtin("coffee")?;
//! let chosen = suite.select(&["q2"])?; // a query's name, or the group of several
//! assert_eq!(chosen.len(), 2);
//! # Ok::<(), caudal_suite::Error>(())
//! ```
//!
//! This crate reads no data and knows no engine: it says what to run and on which files, and
//! [`compare`] says whether two sets of results are the same.

mod builtin;
pub mod compare;
mod error;
mod files;
mod manifest;
mod mistakes;
mod options;
mod params;
mod suite;
mod words;

pub use builtin::NAMES;
pub use error::Error;
pub use files::matching;
pub use options::TableOptions;
pub use params::{Param, ParamType};
pub use suite::{Query, Suite, TablePattern};
pub use words::{dialect_options, type_name};
