//! CSV files into Arrow batches, as fast as the machine.
//!
//! A [`Reader`] hands out [`Chunk`]s of whole records to any number of threads, and turns each into a
//! [`Parsed`] batch on whatever thread calls [`Reader::parse`]. The stages, in the order in which a byte
//! meets them:
//!
//! 1. `stream` reads the files in `blocks`, side by side, and cuts them in turn (`cutter`) where their last
//!    record ends (`boundary`);
//! 2. `index` finds where the fields of a chunk begin and end, 64 bytes at a time (`masks`, `quotes`);
//! 3. `columns` converts the fields of the projected columns (`value`, `time`, `text`), in cache-sized
//!    stretches; text stays where it is and is only pointed at;
//! 4. `parse` drops the rows that do not fit and reports each of them as a [`Reject`] with its line.
//!
//! What divides a file and what its values look like is a [`Dialect`]: its bytes are a `syntax` to whoever looks at
//! bytes, its [`Formats`] are for whoever converts values, and its [`Encoding`] is undone as blocks are read. The default is
//! RFC 4180 with the leniency of Python's `csv` module: a quote opens only at the start of a field, one inside an unquoted field is literal, and what follows a closing quote is literal too. A
//! record ends with LF or CRLF; a CR anywhere else is data. Blank lines are skipped.

mod beginning;
mod blocks;
mod boundary;
mod chunk;
mod columns;
mod cutter;
mod decoded;
mod dialect;
mod doubt;
mod encoding;
mod error;
mod field;
mod foreign;
mod formats;
mod guess;
mod header;
mod index;
mod infer;
mod input;
mod kind;
mod layout;
mod masks;
mod names;
mod note;
mod nulls;
mod odd;
mod otherwise;
mod parse;
mod pool;
mod quotes;
mod reader;
mod reject;
mod sample;
mod sniff;
mod spec;
mod stream;
mod syntax;
mod text;
mod time;
mod time_format;
mod time_words;
mod value;

pub use beginning::Beginning;
pub use chunk::Chunk;
pub use dialect::Dialect;
pub use encoding::Encoding;
pub use error::Error;
pub use formats::Formats;
pub use infer::{Inferred, infer, infer_inputs};
pub use input::Input;
pub use kind::Kind;
pub use note::{LateName, Note, NoteKind};
pub use parse::Parsed;
pub use reader::Reader;
pub use reject::{Reject, RejectReason};
pub use sniff::{Unsaid, sniff, sniff_head};
pub use spec::{At, Column, Options, Table, Type};
pub use time::{date as parse_date, timestamp as parse_timestamp};
pub use time_format::TimeFormat;
pub use value::decimal as parse_decimal;
