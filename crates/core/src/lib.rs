//! Decisions: identities, the tracker that makes delivery exact, completion, limits and error codes. Facts go
//! in, decisions come out; there is no I/O and no clock in this crate, and nothing of how anything is sent or
//! stored: that is `caudal-protocol`.

mod decimal;
pub mod error;
pub mod ids;
pub mod limits;
pub mod param;
pub mod row_filter;
pub mod tracker;

pub use decimal::{Decimal, NotADecimal};
pub use error::{Code, Coded, Failure, codes};
pub use ids::{Attempt, FragmentId, QueryId, SessionId, ShardId, Source, StageId, TableId};
pub use param::ParamValue;
pub use row_filter::RowFilter;
pub use tracker::{EndConflict, Offer, Part, SeenOfSource, Tracker};
