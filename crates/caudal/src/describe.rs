//! Description of files: what would be read of them, and how.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use caudal_core::limits;
use caudal_csv::{Note, Options, Parsed, Reader, Table};
use caudal_suite::TableOptions;

use crate::error::Error;
use crate::tables;

/// What some files are as a table: how they are written, which columns they have, how many rows fit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// Columns with their types, files and dialect; what was not said of it is guessed.
    pub table: Table,
    /// What was guessed, and what makes one doubt it.
    pub notes: Vec<Note>,
    /// Number of rows that fit.
    pub rows: u64,
    /// Number of rows that do not.
    pub rejected: u64,
    /// Of each column, a few values from the beginning.
    pub samples: Vec<Vec<String>>,
}

/// Describes a file, or all that a pattern matches. Reads all of it.
pub fn describe(files: impl AsRef<str>, options: &TableOptions) -> Result<Description, Error> {
    let (table, notes) = tables::guessed("t".to_string(), files.as_ref(), options)?;
    let all = (0..table.columns.len()).collect();
    let reader = Reader::open(table.clone(), all, Options::default())?;
    let mut counted = count(&reader)?;
    if counted.samples.is_empty() {
        counted.samples = vec![vec![]; table.columns.len()];
    }
    let Counted { rows, rejected, samples } = counted;
    Ok(Description { table, notes, rows, rejected, samples })
}

#[derive(Default)]
struct Counted {
    rows: u64,
    rejected: u64,
    samples: Vec<Vec<String>>,
}

fn count(reader: &Reader) -> Result<Counted, Error> {
    let counted = Mutex::new(Counted::default());
    let work = || -> Result<(), Error> {
        while let Some(chunk) = reader.next_chunk()? {
            let Parsed { number, batch, rejects, .. } = reader.parse(chunk)?;
            let samples = (number == 0).then(|| samples(&batch));
            let mut counted = counted.lock().expect("no thread panics");
            counted.rows += batch.num_rows() as u64;
            counted.rejected += rejects.len() as u64;
            counted.samples.extend(samples.into_iter().flatten());
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no thread panics"))
    })?;
    Ok(counted.into_inner().expect("no thread panics"))
}

/// The first values of each column that are not NULL, each once.
fn samples(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default();
    let of_column = |column: &arrow::array::ArrayRef| {
        let mut samples: Vec<String> = vec![];
        let mut seen = BTreeSet::new();
        let Ok(values) = ArrayFormatter::try_new(column, &options) else { return samples };
        for row in
            (0..column.len().min(limits::SAMPLE_ROWS_MAX)).filter(|row| column.is_valid(*row))
        {
            let value = values.value(row).to_string();
            if samples.len() < limits::SAMPLE_VALUES_MAX && seen.insert(value.clone()) {
                samples.push(value);
            }
        }
        samples
    };
    batch.columns().iter().map(of_column).collect()
}
