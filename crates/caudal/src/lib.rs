//! SQL over tables of files, exact whatever dies: the front door.
//!
//! A [`Session`] says where queries are answered: in this process, or on a cluster. Name some files as tables, and
//! ask:
//!
//! ```
//! use futures::StreamExt;
//!
//! # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! std::fs::write("games.csv", "id,name\n1,Chess\n2,Go\n")?;
//! std::fs::write("reviews_1.csv", "game,stars\n1,5\n2,3\n")?;
//! std::fs::write("reviews_2.csv", "game,stars\n2,5\n")?;
//!
//! let session = caudal::Session::local(); // or caudal::Session::connect(["host:7070"])
//! let mut answer = session
//!     .table("games", "games.csv")
//!     .table("reviews", "reviews_*.csv")
//!     .query("SELECT name, count(*) AS n FROM games JOIN reviews ON game = id GROUP BY name ORDER BY n")
//!     .await?;
//! let mut rows = 0;
//! while let Some(batch) = answer.next().await {
//!     rows += batch?.num_rows(); // Arrow's RecordBatch
//! }
//! assert_eq!(rows, 2);
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(doc()).unwrap();
//! ```
//!
//! - [`Session::table`] begins a list of [`Tables`] to ask about; [`Tables::query`] gives an [`Answer`], a stream of
//!   Arrow batches that knows its schema, what was left out of the files ([`Answer::rejects`]) and how far it is
//!   ([`Answer::progress`]).
//! - A [`Job`] is several queries over the same tables: of a [`Suite`], or your own. [`Session::run`] answers them in
//!   one pass over the files, and tells what happens as [`Event`]s: rows as soon as they are certain.
//! - [`Job::plan`] says how a job is divided into stages, without running it.
//! - [`sql`] divides scripts into statements, and statements into words.
//! - A [`Cluster`] can be asked for its sessions, and to cancel them.
//! - Every [`Error`] has one of the [`codes`], each with a page in `docs/errors`, and may have a hint.
//!
//! Work is done by tasks of the runtime that the caller is on, whichever kind it is: in this process on as many of
//! its threads as are free, up to [`Session::threads`]. Nothing is read before a stream is first polled, and little
//! ahead of whoever polls it. An [`Answer`] or a [`Run`] that is dropped before its end cancels its session.

#![warn(missing_docs)]

mod answer;
mod cluster;
mod describe;
mod error;
mod job;
#[doc(hidden)]
pub mod local;
pub mod oracle;
mod plan;
mod progress;
mod reading;
mod run;
mod session;
pub mod sql;
mod tables;

pub use answer::{Answer, Rejects};
pub use cluster::Cluster;
pub use describe::{Description, describe};
pub use error::Error;
pub use job::{Job, SuiteJob};
pub use plan::Plan;
pub use progress::{Progress, TableProgress};
pub use run::Run;
pub use session::Session;
pub use tables::{Tables, name_of_files};

pub use caudal_client::Event;
pub use caudal_core::error::Kind;
pub use caudal_core::{Code, Coded, Decimal, ParamValue, QueryId, SessionId, TableId, codes};
pub use caudal_csv::{
    At, Column, Dialect, Encoding, Formats, Note, NoteKind, Table, TimeFormat, Type,
};
pub use caudal_protocol::Failure;
pub use caudal_protocol::calls::SessionEntry;
pub use caudal_source::{Reject, RejectReason, Table as FileTable};
pub use caudal_suite::compare;
pub use caudal_suite::{Param, ParamType, Query, Suite, TableOptions, TablePattern};
