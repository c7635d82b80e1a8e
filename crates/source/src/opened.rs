//! A table that has been opened, of whatever format.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use caudal_csv::{Note, Options};

use crate::error::Error;
use crate::format::{Content, Format};
use crate::origin::{Origin, Stamp};
use crate::source::{Chunk, Parsed, TableSource};

#[derive(Debug)]
pub struct Opened {
    table: String,
    format: Arc<dyn Format>,
    needed: Vec<usize>,
    options: Options,
    origins: Arc<[Origin]>,
    stamps: Vec<Option<Stamp>>,
    content: Content,
}

impl Opened {
    pub fn new(
        table: String,
        format: Arc<dyn Format>,
        needed: Vec<usize>,
        options: Options,
    ) -> Result<Opened, Error> {
        let origins = format.origins()?;
        let stamps = origins.iter().map(Origin::stamp).collect::<Result<_, _>>()?;
        let content = format.open(&needed, &options)?;
        Ok(Opened { table, format, needed, options, origins, stamps, content })
    }
}

impl TableSource for Opened {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.content.schema)
    }

    fn total_bytes(&self) -> Option<u64> {
        self.content.total_bytes
    }

    fn waiting_threads(&self) -> usize {
        match self.origins.iter().any(Origin::is_far) {
            true => std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            false => usize::from(self.total_bytes().is_none()),
        }
    }

    fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        let next = self.content.chunks.next_chunk()?;
        Ok(match self.options.strict {
            true => next.map(|chunk| chunk.then(without_rejects)),
            false => next,
        })
    }

    fn again(&self) -> Result<Arc<dyn TableSource>, Error> {
        self.check_unchanged()?;
        self.origins.iter().try_for_each(Origin::check_again)?;
        let (format, needed) = (Arc::clone(&self.format), self.needed.clone());
        let again = Opened::new(self.table.clone(), format, needed, self.options.clone())?;
        // Nothing may have come between the look at the files and their opening.
        self.check_unchanged()?;
        Ok(Arc::new(again))
    }

    fn check_unchanged(&self) -> Result<(), Error> {
        let mut all = self.origins.iter().zip(&self.stamps);
        all.try_for_each(|(origin, stamp)| origin.check_unchanged(stamp))
    }

    fn notes(&self) -> Vec<Note> {
        self.content.chunks.notes()
    }

    fn check_loss(&self, rows: u64, rejected: u64) -> Result<(), Error> {
        match self.options.rejected_percent_max {
            Some(percent_max) if is_too_much(rows, rejected, percent_max) => {
                let table = self.table.clone();
                Err(Error::TooMuchRejected { table, rows: rows + rejected, rejected, percent_max })
            }
            _ => Ok(()),
        }
    }
}

/// Whether more is lost than may be: always if nothing is left.
fn is_too_much(rows: u64, rejected: u64, percent_max: f64) -> bool {
    let share = rejected as f64 * 100.0;
    rejected > 0 && (rows == 0 || share > percent_max * (rows + rejected) as f64)
}

fn without_rejects(mut parsed: Parsed) -> Result<Parsed, Error> {
    match parsed.rejects.is_empty() {
        true => Ok(parsed),
        false => Err(Error::Strict(Box::new(parsed.rejects.swap_remove(0)))),
    }
}

#[cfg(test)]
mod tests {
    use super::is_too_much;

    #[test]
    fn too_much_is_more_than_the_share_or_all() {
        assert!(!is_too_much(0, 0, 10.0));
        assert!(!is_too_much(90, 10, 10.0));
        assert!(is_too_much(89, 11, 10.0));
        assert!(is_too_much(0, 1, 100.0));
        assert!(!is_too_much(1, 99, 100.0));
        assert!(is_too_much(1_000_000, 1, 0.0));
        assert!(!is_too_much(1_000_000, 0, 0.0));
    }
}
