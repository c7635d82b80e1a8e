//! Names of objects that are no columns: they come after the beginning from which columns were guessed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::DataType;
use caudal_core::limits;
use caudal_csv::{LateName, Note, NoteKind};

use super::cursor::Cursor;
use super::guess::Guess;

/// What was passed over in some rows, in the order of the file.
#[derive(Debug, Default)]
pub struct Untaken {
    /// Of the row that is being read.
    row: Vec<(String, Guess)>,
    names: BTreeMap<String, Guess>,
    objects: u64,
    first_line: Option<u64>,
}

impl Untaken {
    /// A name that is no column, with its value, which comes next.
    #[cold]
    pub fn pass(&mut self, within: &str, name: &[u8], mut cursor: Cursor<'_>) {
        let name = String::from_utf8_lossy(name);
        let name = if within.is_empty() { name.into_owned() } else { format!("{within}.{name}") };
        let mut guess = Guess::default();
        // What is wrong with it makes the row a reject.
        let _ = guess.look_at(&mut cursor);
        self.row.push((name, guess));
    }

    /// The row is over, and fits or does not: of one that does not nothing is told but that.
    pub fn end_row(&mut self, line: u64, fits: bool) {
        if self.row.is_empty() {
            return;
        }
        if !fits {
            return self.row.clear();
        }
        self.objects += 1;
        self.first_line.get_or_insert(line);
        for (name, guess) in self.row.drain(..) {
            add(&mut self.names, name, guess);
        }
    }
}

fn add(names: &mut BTreeMap<String, Guess>, name: String, guess: Guess) {
    if names.len() < limits::JSON_NAMES_MAX || names.contains_key(&name) {
        names.entry(name).or_default().join(guess);
    }
}

/// The same of a whole table, from all threads that read it.
#[derive(Debug, Default)]
pub struct AllUntaken(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    names: BTreeMap<String, Guess>,
    objects: u64,
    /// Number of a chunk, and the place of its first.
    first: Option<(u64, PathBuf, u64)>,
}

impl AllUntaken {
    pub fn add(&self, chunk: u64, path: &Path, found: Untaken) {
        let Some(line) = found.first_line else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.objects += found.objects;
        if all.first.as_ref().is_none_or(|(first, ..)| chunk < *first) {
            all.first = Some((chunk, path.to_path_buf(), line));
        }
        for (name, guess) in found.names {
            add(&mut all.names, name, guess);
        }
    }

    pub fn notes(&self) -> Vec<Note> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, path, line)) = &all.first else { return vec![] };
        let name = |(name, guess): (&String, &Guess)| LateName {
            name: name.clone(),
            ty: word(&guess.data_type()),
        };
        let names = all.names.iter().map(name).collect();
        let kind = NoteKind::LateNames { names, objects: all.objects, line: *line };
        vec![Note::new(path, kind)]
    }
}

/// The word of the type that options give such a column.
fn word(ty: &DataType) -> &'static str {
    match ty {
        DataType::Boolean => "bool",
        DataType::Int64 => "int",
        DataType::Float64 => "float",
        _ => "text",
    }
}

/// Where the names of a table's objects are columns that are needed.
#[derive(Debug)]
pub struct Names {
    /// Of each name, the needed column that it is, if it is one.
    known: Vec<(Vec<u8>, Option<usize>)>,
    places: HashMap<Vec<u8>, usize>,
}

impl Names {
    /// Of all columns, with the place of each among those that are needed.
    pub fn of<'a>(all: impl Iterator<Item = (&'a str, Option<usize>)>) -> Arc<Names> {
        let known: Vec<_> = all.map(|(name, column)| (name.as_bytes().to_vec(), column)).collect();
        let places = known.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        Arc::new(Names { known, places })
    }

    /// Its place, which is nearly always the one that comes next.
    #[inline]
    pub fn place(&self, name: &[u8], next: usize) -> Option<usize> {
        match self.known.get(next) {
            Some((known, _)) if known == name => Some(next),
            _ => self.places.get(name).copied(),
        }
    }

    /// The needed column at a place.
    #[inline]
    pub fn column(&self, place: usize) -> Option<usize> {
        self.known[place].1
    }
}
