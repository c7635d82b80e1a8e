//! Values that make a column a text, though nearly all others are of a narrower type.

use std::path::PathBuf;

use caudal_core::limits;

use crate::guess::{Guess, OddOnes};
use crate::note::{Note, NoteKind};
use crate::otherwise::NULLS;
use crate::spec::Column;

/// Where a value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Of the files of the table.
    pub file: usize,
    /// The physical line on which its record begins, where that is known.
    pub line: Option<u64>,
}

/// Values that are not of a type.
#[derive(Debug, Clone, Default)]
pub struct Misfits {
    pub count: u64,
    pub first: Vec<u8>,
    pub place: Place,
    /// Whether another is not the first.
    has_others: bool,
}

impl Misfits {
    pub fn add(&mut self, value: &[u8], place: impl Fn() -> Place) {
        if self.count == 0 {
            self.first = value.to_vec();
            self.place = place();
        }
        self.count += 1;
        self.has_others |= self.first != value;
    }

    /// The one word that all of them are, if it is one that may stand for NULL.
    fn word(&self) -> Option<String> {
        let is_short = self.first.len() <= limits::NULL_WORD_BYTES_MAX;
        let word = String::from_utf8(self.first.clone()).ok().filter(|_| !self.has_others)?;
        // A number is a number, and nobody writes a quote for nothing.
        let is_known = NULLS.contains(&word.as_str());
        let is_word = word.chars().all(|c| !c.is_ascii_digit() && !c.is_control() && c != '\'');
        (is_known || (is_short && is_word)).then_some(word)
    }
}

/// What there is to say of columns that few values make a text, but of those of which something is said already.
pub fn notes(
    files: &[PathBuf],
    columns: &[Column],
    guesses: &[Guess<'_>],
    is_told: &[bool],
) -> Vec<Note> {
    let all = columns.iter().zip(guesses).zip(is_told).filter(|(_, is_told)| !**is_told);
    let odd = all.filter_map(|((column, guess), _)| Some((column, guess.odd_ones()?)));
    let mut all: Vec<Note> = odd.map(|(column, odd)| note(files, column, &odd)).collect();
    let more = all.len().saturating_sub(limits::HEADER_NAMES_LISTED_MAX);
    if more > 0 {
        all.truncate(limits::HEADER_NAMES_LISTED_MAX);
        all.push(Note::new(&files[0], NoteKind::MoreOddValues(more)));
    }
    all
}

fn note(files: &[PathBuf], column: &Column, odd: &OddOnes<'_>) -> Note {
    let &OddOnes { ty, are_too_large, misfits, values } = odd;
    let kind = NoteKind::OddValues {
        column: column.name.clone(),
        ty,
        are_too_large,
        count: misfits.count,
        values,
        line: misfits.place.line,
        first: String::from_utf8_lossy(&misfits.first).into_owned(),
        null: misfits.word().filter(|_| !are_too_large),
    };
    Note::new(&files[misfits.place.file], kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::infer::infer;

    /// What there is to say of files.
    fn told(contents: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let file = |(at, content): (usize, &&str)| {
            let path = dir.path().join(format!("{at}.csv"));
            std::fs::write(&path, content).unwrap();
            path
        };
        let files: Vec<PathBuf> = contents.iter().enumerate().map(file).collect();
        let notes = infer(&files, &Dialect::default(), None).unwrap().notes;
        let folder = format!("{}/", dir.path().display());
        notes.iter().map(|note| note.to_string().replace(&folder, "")).collect()
    }

    #[test]
    fn few_values_that_make_a_column_a_text_are_told_with_the_first() {
        let with = |odd: &[(usize, &str)], rows: usize| {
            let value = |row: usize| match odd.iter().find(|(at, _)| *at == row) {
                Some((_, odd)) => odd.to_string(),
                None => row.to_string(),
            };
            (0..rows).fold("v\n".to_string(), |text, row| text + &value(row) + "\n")
        };
        assert_eq!(
            told(&[&with(&[(500, "x")], 1000)]),
            ["0.csv: v is taken for text because of 1 of 1000 values (line 502: \"x\"); \
                 {types={v=\"int\"}} makes such rows rejects, {null='x'} makes them NULL"]
        );
        assert_eq!(
            told(&[&with(&[(0, "x y"), (7, "5 m")], 20)]),
            ["0.csv: v is taken for text because of 2 of 20 values (line 2: \"x y\"); \
                 {types={v=\"int\"}} makes such rows rejects"]
        );
        // Others are texts, or codes.
        assert!(told(&[&with(&[(0, "x"), (3, "y")], 10)]).is_empty());
        assert!(told(&[&with(&[(500, "007")], 1000)]).is_empty());
        assert!(told(&[&with(&[(0, "a"), (1, "b"), (2, "c")], 4)]).is_empty());
        // In the second file, where a float is nearer than an integer.
        let second = told(&["v\n1.5\n", &format!("v\n{}soon\n", "1.5\n2\n".repeat(20))]);
        let expected = "1.csv: v is taken for text because of 1 of 42 values (line 42: \"soon\"); \
                        {types={v=\"float\"}}";
        assert!(second[0].starts_with(expected), "{second:?}");
        let wide = format!("{}\n", (0..20).map(|n| format!("c{n}")).collect::<Vec<_>>().join(","));
        let row = |value: &str| format!("{}\n", vec![value; 20].join(","));
        let text = wide + &row("2024-01-01").repeat(30) + &row("soon");
        let lines = told(&[&text]);
        assert_eq!(lines.len(), limits::HEADER_NAMES_LISTED_MAX + 1);
        assert_eq!(
            lines.last().unwrap(),
            "0.csv: 8 more columns are taken for text because of few values"
        );
    }

    #[test]
    fn integers_that_are_too_large_are_told() {
        let nines = "9".repeat(39);
        let lines = told(&[&format!("v\n1\n{nines}\n{nines}\n")]);
        assert!(
            lines[0].starts_with("0.csv: v is taken for text because of 2 of 3 values (line 3: ")
        );
        assert!(
            lines[0].ends_with(
                "{types={v=\"float\"}} takes them, rounded: no type of integers has so many digits"
            ),
            "{lines:?}"
        );
        assert!(told(&[&format!("v\n1\n{}\n", "9".repeat(38))]).is_empty());
    }
}
