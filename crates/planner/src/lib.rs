//! SQL in, stages out.
//!
//! DataFusion plans each query; its exchanges are where we cut. What lies between two exchanges is a
//! [`Stage`]. The passes, in order, one a file:
//!
//! 1. [`names`]: every name in a query becomes the exact name of what it means;
//!    [`sql`]: parse, refuse what is not a pure SELECT, rewrite what DataFusion would get wrong in the SQL ([`rewrite`]) and in its
//!    logical plan ([`logical`]), make its physical plan over [`leaf`]s that stand for the session's tables, with
//!    numbers that are exact (`literals`), arithmetic that does not wrap (`checked`, `signed`, `distinct`), one NaN (`nans`), one
//!    zero (`zeros`), casts that stay where they are (`casts`) and functions that do not make too much (`bounds`);
//! 2. [`exchanges`]: DataFusion's exchanges become ours; nothing below a recursive query is touched;
//! 3. [`align`]: every operator with several inputs gets inputs that live in the same place
//!    ([`joins`], [`unions`]), by adding exchanges where DataFusion saw no need for one;
//! 4. [`cut`]: each exchange ends a stage; equal stages of all queries become one;
//! 5. [`early`]: stages that may say part of their answer before they are complete.
//!
//! A plan depends on nothing but the specification, so every process that plans the same session
//! arrives at the same stages: the [`fingerprint`] says so.

pub mod align;
mod bounds;
mod calls;
mod cases;
mod casts;
mod checked;
pub mod codec;
mod columns;
mod comparisons;
mod constant_filters;
mod copies;
pub mod cut;
mod dates;
mod decimals;
mod decorrelate;
mod dependencies;
pub mod describe;
mod diagnose;
mod distinct;
pub mod early;
pub mod error;
mod exact_times;
pub mod exchange;
pub mod exchanges;
mod expressions;
mod files;
pub mod fingerprint;
mod float_groups;
mod guard;
pub mod identity;
mod idents;
mod inner_orders;
mod intervals;
mod join_syntax;
pub mod joins;
mod large_limits;
pub mod leaf;
mod literals;
mod logical;
mod manifest;
mod materialized;
pub mod mistakes;
pub mod names;
mod nans;
mod null_keys;
mod nulls;
mod one_type;
mod only_row;
mod optional_sides;
mod orders;
mod outline;
mod range_frames;
mod refusals;
pub mod region;
#[cfg(debug_assertions)]
pub mod remembered;
mod rewrite;
pub mod session;
mod shifts;
mod signed;
mod sort_keys;
pub mod spec;
pub mod sql;
pub mod stage;
mod subqueries;
mod text;
mod texts;
mod times;
pub mod unions;
mod values;
mod walk;
mod zeros;

pub use error::Error;
pub use exchange::Distribution;
pub use files::files_in_from;
pub use leaf::{Leaf, LeafExec};
pub use session::{AnswerPlan, QueryPlan, SessionPlan, TablePlan, plan, plan_telling};
pub use spec::{QuerySpec, ROW_COLUMN, SessionSpec, TableSpec, scalar};
pub use stage::{Placement, Stage};
