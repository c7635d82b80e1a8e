//! Description of files: what would be read of them, and how.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use caudal_core::limits;
use caudal_source::{Note, Options, Parsed, TableSource};
use caudal_suite::{TableOptions, dialect_options};

use crate::error::Error;
use crate::tables;

/// What some files are as a table: how they are written, which columns they have, how many rows fit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// The columns that SQL sees.
    pub schema: SchemaRef,
    /// How they are written: of CSV the options that say so, else the format; and how they are compressed.
    pub written: String,
    /// What was guessed, and what makes one doubt it.
    pub notes: Vec<Note>,
    /// Number of rows that fit.
    pub rows: u64,
    /// Number of rows that do not.
    pub rejected: u64,
    /// Of each column, a few values from the beginning.
    pub samples: Vec<Vec<String>>,
}

/// Describes a file, all in a folder, or all that a pattern matches. Reads all of it.
pub fn describe(files: impl AsRef<str>, options: &TableOptions) -> Result<Description, Error> {
    let (table, mut notes) = tables::guessed("t".to_string(), files.as_ref(), options)?;
    let (schema, format) = (table.schema(), table.format()?);
    let written = match table.as_csv() {
        Some(csv) => {
            let compression = format.trim_start_matches(|c| c != ',');
            format!("{}{compression}", dialect_options(&csv.dialect, csv.fields))
        }
        None => format,
    };
    let columns = schema.fields().len();
    let source = table.open((0..columns).collect(), Options::default())?;
    let Counted { rows, rejected, first } = count(source.as_ref())?;
    notes.extend(source.notes());
    let samples = first.map_or_else(|| vec![vec![]; columns], |(_, samples)| samples);
    Ok(Description { schema, written, notes, rows, rejected, samples })
}

#[derive(Default)]
struct Counted {
    rows: u64,
    rejected: u64,
    /// The number of the first chunk that has rows, and values of it.
    first: Option<(u64, Vec<Vec<String>>)>,
}

impl Counted {
    fn is_first(&self, number: u64) -> bool {
        self.first.as_ref().is_none_or(|(first, _)| number < *first)
    }
}

fn count(source: &dyn TableSource) -> Result<Counted, Error> {
    let counted = Mutex::new(Counted::default());
    let work = || -> Result<(), Error> {
        while let Some(chunk) = source.next_chunk()? {
            let number = chunk.number();
            let Parsed { batch, rejects, .. } = chunk.parse()?;
            let mut counted = counted.lock().expect("no thread panics");
            counted.rows += batch.num_rows() as u64;
            counted.rejected += rejects.len() as u64;
            if batch.num_rows() > 0 && counted.is_first(number) {
                counted.first = Some((number, samples(&batch)));
            }
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
