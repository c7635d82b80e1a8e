//! Tables of files of any format, as batches of Arrow: CSV, JSON, Parquet and Arrow IPC, compressed or not, from files,
//! from stores and addresses on the net, and from pipes.
//!
//! A [`Table`] is files and the columns that SQL sees of them; opened for the columns that are needed it is a
//! [`TableSource`], which gives [`Chunk`]s to any number of threads. Behind that nobody knows what the files are:
//!
//! 1. `origin` is where bytes come from: a file, an object on the net (`remote`), or a `pipe` whose beginning is kept;
//! 2. `unpack` decompresses them, ahead of whoever parses;
//! 3. `kind` tells the format by their beginning;
//! 4. a `format` makes chunks of them, several files or row groups side by side (`lanes`);
//! 5. columns that a file has not itself are filled in (`fill`, `folders`).

mod abreast;
mod at;
mod columns;
mod convert;
mod csv;
mod declared;
mod error;
mod fill;
mod folder;
mod folders;
mod format;
mod guard;
mod ipc;
mod json;
mod kind;
mod lanes;
mod opened;
mod origin;
mod parquet;
mod pipe;
mod position;
mod progress;
mod reject;
mod remote;
mod said;
mod size;
mod source;
mod table;
mod twice;
mod type_word;
mod types;
mod unpack;

pub use caudal_csv::{Note, Options};
pub use error::Error;
pub use folder::files_in;
pub use origin::STDIN;
pub use reject::{Reject, RejectReason};
pub use remote::{files_at, is_address};
pub use said::Said;
pub use source::{Chunk, Parsed, TableSource};
pub use table::Table;
pub use twice::notes_of_copies;
pub use type_word::type_word;
pub use unpack::{Codec, Damage};
