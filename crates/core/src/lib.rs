//! The pure heart of Caudal: identities, the tracker that makes delivery exact, completion, limits
//! and error codes. Facts go in, decisions come out; there is no I/O and no clock in this crate.

mod decimal;
pub mod encoding;
pub mod error;
pub mod ids;
pub mod limits;
mod lz4;
pub mod manifest;
pub mod message;
pub mod objects;
pub mod protocol;
pub mod queues;
pub mod schema;
pub mod size;
pub mod tracker;
pub mod wire;

pub use decimal::{Decimal, NotADecimal};
pub use error::{Code, Coded};
pub use ids::{Attempt, FragmentId, QueryId, SessionId, ShardId, Source, StageId, TableId};
pub use message::{Failure, FragmentPart, Message, Section, TableFragment};
pub use objects::Objects;
pub use queues::Queues;
pub use tracker::{EndConflict, Offer, Part, SeenOfSource, Tracker};
