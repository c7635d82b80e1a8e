//! Formats of files, as tables know them.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use caudal_csv::Options;

use crate::error::Error;
use crate::lanes::Chunks;
use crate::origin::Origin;

/// The files of a table, with what is known of them before they are read.
pub trait Format: fmt::Debug + Send + Sync {
    /// The files, in their order; the same whenever it is asked.
    fn origins(&self) -> Result<Arc<[Origin]>, Error>;

    /// The columns that SQL sees.
    fn schema(&self) -> SchemaRef;

    /// The table of CSV that it is, if it is one.
    fn as_csv(&self) -> Option<&caudal_csv::Table> {
        None
    }

    /// Opens them for the columns that are needed, by their indexes.
    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error>;
}

/// Files that have been opened.
#[derive(Debug)]
pub struct Content {
    /// The needed columns, then the position if there is one.
    pub schema: SchemaRef,
    pub total_bytes: Option<u64>,
    pub chunks: Box<dyn Chunks>,
}
