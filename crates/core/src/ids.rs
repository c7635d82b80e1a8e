//! Names of things. Every identity is fixed where the thing is made and survives every hop, so that
//! a repetition can be recognised by every receiver, however late.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the plan's list of such things.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("a plan has fewer than 2^32 parts"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

number_id!(
    /// A table of a session, by its position in the session's list of tables.
    TableId, "t");
number_id!(
    /// A stage of a session's plan.
    StageId, "s");
number_id!(
    /// One of the session's shards. Shard *n* of every stage is owned by the same process.
    ShardId, "#");
number_id!(
    /// A query of a session.
    QueryId, "q");

/// One client's run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The source of a stream of numbered fragments.
///
/// Map stages have no state, so what they send keeps the number of the table fragment it was made
/// of: a table is the source for everything up to the first shards that gather it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Table(TableId),
    Shard { stage: StageId, shard: ShardId },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Table(table) => write!(f, "{table}"),
            Source::Shard { stage, shard } => write!(f, "{stage}{shard}"),
        }
    }
}

/// The identity of a fragment: the *number*-th of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FragmentId {
    pub source: Source,
    pub number: u32,
}

impl fmt::Display for FragmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.number)
    }
}

/// One run of a fragment. Two runs may divide their rows differently, so parts of different
/// attempts are never put together. Random; zero is never drawn by chance for two live runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attempt(pub u64);
