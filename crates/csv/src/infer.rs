//! A table's columns, guessed from its files.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use caudal_core::limits;

use crate::columns::trim_spaces;
use crate::error::Error;
use crate::field::{owned_value, without_cr};
use crate::header::{Header, header_of};
use crate::index::Index;
use crate::input::Input;
use crate::spec::{At, Column, Options, Type};
use crate::{time, value};

/// The columns of the first file's header, with the narrowest type that fits the values at the start of
/// every file. Later values may still not fit: they become rejects.
///
/// A column whose name is empty or not unique is referred to by its index.
pub fn infer(files: &[PathBuf]) -> Result<Vec<Column>, Error> {
    infer_inputs(files, |_, path| {
        // Asked before it is opened: opening a pipe waits for its writer.
        if !path.metadata().map_err(|error| Error::read(path, error))?.is_file() {
            return Err(Error::NotAFile(path.to_path_buf()));
        }
        let file = File::open(path).map_err(|error| Error::read(path, error))?;
        Ok(Box::new(file) as Input)
    })
}

/// The same for files whose bytes come in their order, each from its first byte; `open` is given a file's place among
/// them and its name.
pub fn infer_inputs<E: From<Error>>(
    files: &[PathBuf],
    mut open: impl FnMut(usize, &Path) -> Result<Input, E>,
) -> Result<Vec<Column>, E> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut columns = Vec::new();
    let mut guesses = Vec::new();
    let sample_bytes = (limits::INFER_BYTES / files.len()).max(limits::INFER_FILE_BYTES_MIN);
    for (at, file) in files.iter().enumerate() {
        let (header, sample) = read_sample(open(at, file)?, file, sample_bytes)?;
        if at == 0 {
            columns = columns_of(&header.names);
            guesses = vec![Guess::default(); columns.len()];
        }
        let place = |column: &Column| match &column.at {
            At::Header(name) => header.names.iter().position(|at| at == name),
            At::Index(index) => Some(*index),
        };
        let places: Vec<Option<usize>> = columns.iter().map(place).collect();
        look_at(&sample, header.names.len(), &places, &mut guesses);
    }
    for (column, guess) in columns.iter_mut().zip(&guesses) {
        column.ty = guess.narrowest();
    }
    Ok(columns)
}

fn columns_of(names: &[String]) -> Vec<Column> {
    let mut taken = HashSet::new();
    let column = |(index, name): (usize, &String)| {
        let is_unique = names.iter().filter(|other| *other == name).count() == 1;
        let at =
            if is_unique && !name.is_empty() { At::Header(name.clone()) } else { At::Index(index) };
        let base = if name.is_empty() { format!("column_{}", index + 1) } else { name.clone() };
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        let name = std::iter::once(base.clone())
            .chain(numbered)
            .find(|name| taken.insert(name.clone()))
            .expect("there is always another number");
        Column { name, at, ty: Type::Text }
    };
    names.iter().enumerate().map(column).collect()
}

/// The header, and so many bytes after it.
fn read_sample(mut input: Input, file: &Path, bytes: usize) -> Result<(Header, Vec<u8>), Error> {
    let record_bytes_max = Options::default().record_bytes_max;
    let (header, mut begun) = header_of(&mut input, file, record_bytes_max)?;
    let mut sample = begun.split_off(header.body_at);
    let missing = bytes.saturating_sub(sample.len());
    let read = input.take(missing as u64).read_to_end(&mut sample);
    if read.map_err(|error| Error::read(file, error))? < missing {
        sample.push(b'\n');
    }
    Ok((header, sample))
}

fn look_at(sample: &[u8], fields: usize, places: &[Option<usize>], guesses: &mut [Guess]) {
    let mut index = Index::new(sample);
    while let Some(stretch) = index.next_stretch() {
        for (first, _) in stretch.records().filter(|(_, found)| *found == fields) {
            for (place, guess) in places.iter().zip(guesses.iter_mut()) {
                if let Some(place) = place
                    && !guess.is_text()
                {
                    let raw = stretch.raw_field(first as usize + place);
                    guess.look_at(trim_spaces(&owned_value(without_cr(raw))));
                }
            }
        }
    }
}

/// Types that a column may still have.
#[derive(Clone)]
struct Guess {
    candidates: Vec<Candidate>,
    has_values: bool,
}

/// A type, and whether a value is of it.
type Candidate = (Type, fn(&[u8]) -> bool);

impl Default for Guess {
    /// The narrowest type first: 0 and 1 are integers rather than booleans.
    fn default() -> Guess {
        Guess {
            candidates: vec![
                (Type::Int64, is_integer),
                (LARGE_INTEGER, is_large_integer),
                (Type::Float64, is_float),
                (Type::Boolean, |text| value::boolean(text).is_some()),
                (Type::Date, |text| time::date(text).is_some()),
                (Type::Timestamp, |text| time::timestamp(text).is_some()),
            ],
            has_values: false,
        }
    }
}

impl Guess {
    /// Nothing else is left.
    fn is_text(&self) -> bool {
        self.candidates.is_empty()
    }

    fn look_at(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.has_values = true;
            self.candidates.retain(|(_, fits)| fits(text));
        }
    }

    fn narrowest(&self) -> Type {
        match self.candidates.first() {
            Some((ty, _)) if self.has_values => *ty,
            _ => Type::Text,
        }
    }
}

/// Type of an integer that 64 bits do not hold: as a float it could not be told from its neighbours.
const LARGE_INTEGER: Type = Type::Decimal { precision: LARGE_DIGITS_MAX as u8, scale: 0 };
const LARGE_DIGITS_MAX: usize = 38;

/// Without leading zeros: those are codes, and would be lost.
fn is_integer(text: &[u8]) -> bool {
    value::int64(text).is_some() && !has_leading_zero(text)
}

fn is_large_integer(text: &[u8]) -> bool {
    let digits = without_sign(text);
    is_digits(digits) && digits.len() <= LARGE_DIGITS_MAX && !has_leading_zero(text)
}

/// Without the words: `nan` and `inf` are more often text. An integer that is too large for any integer is text.
fn is_float(text: &[u8]) -> bool {
    if is_digits(without_sign(text)) {
        return is_large_integer(text);
    }
    value::float64(text).is_some() && text.iter().any(u8::is_ascii_digit) && !has_leading_zero(text)
}

fn without_sign(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text)
}

fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn has_leading_zero(text: &[u8]) -> bool {
    matches!(without_sign(text), [b'0', next, ..] if next.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn inferred(contents: &[&str]) -> Vec<(String, At, Type)> {
        let dir = tempfile::tempdir().unwrap();
        let file = |(i, content): (usize, &&str)| {
            let path = dir.path().join(format!("{i}.csv"));
            fs::write(&path, content).unwrap();
            path
        };
        let files: Vec<PathBuf> = contents.iter().enumerate().map(file).collect();
        let columns = infer(&files).unwrap();
        columns.into_iter().map(|column| (column.name, column.at, column.ty)).collect()
    }

    fn types(content: &str) -> Vec<Type> {
        inferred(&[content]).into_iter().map(|(_, _, ty)| ty).collect()
    }

    #[test]
    fn the_narrowest_type_that_fits_every_value() {
        use Type::*;
        let header = "i,f,b,d,t,x,none\n";
        let rows = "1,1,true,2024-01-01,2024-01-01,1,\n\"-2\",2.5,No,2024-01-02,2024-01-02 10:00:00,b,\n,,,,,,\n";
        assert_eq!(
            types(&format!("{header}{rows}")),
            [Int64, Float64, Boolean, Date, Timestamp, Text, Text]
        );
    }

    #[test]
    fn codes_with_leading_zeros_are_text() {
        assert_eq!(types("a,b,c\n007,0,0.5\n"), [Type::Text, Type::Int64, Type::Float64]);
        assert_eq!(types("a\nnan\n"), [Type::Text]);
    }

    #[test]
    fn integers_beyond_64_bits_stay_exact() {
        let large = "9223372036854775808";
        let nines = "9".repeat(38);
        assert_eq!(types(&format!("a,b\n1,-{nines}\n{large},{nines}\n")), [LARGE_INTEGER; 2]);
        assert_eq!(types(&format!("a,b\n1.5,1\n{large},1{nines}\n")), [Type::Float64, Type::Text]);
        assert_eq!(types("a,b\n1e30,9223372036854775807\n"), [Type::Float64, Type::Int64]);
    }

    #[test]
    fn every_file_counts_whatever_its_order_of_columns() {
        let columns = inferred(&["a,b\n1,x\n", "b,a\ny,2.5"]);
        assert_eq!(
            columns,
            [
                ("a".into(), At::Header("a".into()), Type::Float64),
                ("b".into(), At::Header("b".into()), Type::Text)
            ]
        );
    }

    #[test]
    fn names_that_do_not_identify_a_column_become_indexes() {
        let names: Vec<_> =
            inferred(&[",a,a\n"]).into_iter().map(|(name, at, _)| (name, at)).collect();
        assert_eq!(
            names,
            [
                ("column_1".into(), At::Index(0)),
                ("a".into(), At::Index(1)),
                ("a_2".into(), At::Index(2))
            ]
        );
    }

    #[test]
    fn rows_that_do_not_fit_the_header_say_nothing() {
        assert_eq!(types("a,b\n1,2\nbroken\n\n3,4,x\n"), [Type::Int64, Type::Int64]);
    }
}
