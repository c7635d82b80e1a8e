//! Tables as whoever sends them sees them: the same, whatever their files are.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal_csv::Note;

use crate::error::Error;
use crate::reject::Reject;

/// A table being read. To be shared by as many threads as there are, each of which takes a chunk and parses it.
pub trait TableSource: fmt::Debug + Send + Sync {
    /// The columns that were asked for, then the position if it was.
    fn schema(&self) -> SchemaRef;

    /// Bytes that are to be read of its files, where that is known: not of a pipe.
    fn total_bytes(&self) -> Option<u64>;

    /// The next piece of the files, or `None` at their end and after an error.
    fn next_chunk(&self) -> Result<Option<Chunk>, Error>;

    /// A source of the same table from its start, which gives the same chunks. Fails if a file is not what it was, or was
    /// a pipe.
    fn again(&self) -> Result<Arc<dyn TableSource>, Error>;

    /// Fails if a file is not what it was when the table was opened.
    fn check_unchanged(&self) -> Result<(), Error>;

    /// Once all is read: whether as much of it fits as was asked for.
    fn check_loss(&self, rows: u64, rejected: u64) -> Result<(), Error>;

    /// Once all is read and parsed: what there is to say of it, besides the rows that do not fit.
    fn notes(&self) -> Vec<Note> {
        vec![]
    }

    /// Threads that may wait for chunks to some use, where the next may be long in coming: from a pipe, whose other end nobody
    /// knows, or from somewhere on the net. Where none need wait, it is 0.
    fn waiting_threads(&self) -> usize {
        usize::from(self.total_bytes().is_none())
    }
}

/// A piece of a table. What is left to do with it needs nobody else's turn.
pub struct Chunk {
    number: u64,
    /// Which of the table's files it is of.
    file: Option<usize>,
    work: Box<dyn FnOnce() -> Result<Parsed, Error> + Send>,
}

impl Chunk {
    pub fn new(
        number: u64,
        work: impl FnOnce() -> Result<Parsed, Error> + Send + 'static,
    ) -> Chunk {
        Chunk { number, file: None, work: Box::new(work) }
    }

    pub(crate) fn of_file(self, file: usize) -> Chunk {
        Chunk { file: Some(file), ..self }
    }

    /// Which of the table's files it is of.
    ///
    /// # Panics
    ///
    /// If whoever read it has not said.
    pub(crate) fn file(&self) -> usize {
        self.file.expect("whoever reads a file says which it is")
    }

    /// The same whenever the same files are read with the same options, and growing along the files. Some may be left
    /// out.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its rows, made on the calling thread.
    pub fn parse(self) -> Result<Parsed, Error> {
        (self.work)()
    }

    /// The same with something done after it.
    pub(crate) fn then(
        self,
        next: impl FnOnce(Parsed) -> Result<Parsed, Error> + Send + 'static,
    ) -> Chunk {
        let (file, work) = (self.file, self.work);
        Chunk { file, ..Chunk::new(self.number, move || work().and_then(next)) }
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Content of a chunk.
#[derive(Debug)]
pub struct Parsed {
    pub batch: RecordBatch,
    /// Bytes of the files that the chunk took; over all chunks that is about [`TableSource::total_bytes`].
    pub bytes: usize,
    /// Rows that do not fit, in the order of the file.
    pub rejects: Vec<Reject>,
}
