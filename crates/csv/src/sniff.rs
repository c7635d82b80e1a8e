//! Guesses about how a file is written, and what makes one doubt them.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use caudal_core::limits;

use crate::dialect::Dialect;
use crate::error::Error;
use crate::header::body_of;
use crate::index::Index;

/// What the delimiter may be, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Bytes that divide records as well, in files that few have.
const RARE_DELIMITERS: [u8; 5] = [b':', b'^', b'~', 0x01, 0x1f];

/// Something that was guessed of a file, or that looks as if a guess were wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub file: PathBuf,
    pub kind: NoteKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteKind {
    /// The delimiter is none that was said, and not a comma.
    Delimiter(u8),
    /// One column, and this byte as often in every line.
    PerhapsDelimiter(u8),
    /// The first record, taken for names, is like those that follow.
    PerhapsNoHeader(Vec<String>),
    /// Most records have another number of fields than the header.
    OtherFieldCount { names: usize, fields: usize },
    /// Columns that the first file of the table does not have: nobody can ask for them.
    ExtraColumns(Vec<String>),
    /// Columns of the first file that this one does not have: whoever asks for them gets an error.
    MissingColumns(Vec<String>),
}

impl Note {
    pub(crate) fn new(file: &Path, kind: NoteKind) -> Note {
        Note { file: file.to_path_buf(), kind }
    }

    /// Whether something is probably wrong.
    pub fn is_doubt(&self) -> bool {
        !matches!(self.kind, NoteKind::Delimiter(_))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.kind {
            NoteKind::Delimiter(byte) => {
                let byte = shown(*byte);
                write!(f, "guessed that fields end with {byte} ({{delimiter={byte}}} says it)")
            }
            NoteKind::PerhapsDelimiter(byte) => {
                let byte = shown(*byte);
                write!(
                    f,
                    "has one column only; do fields end with {byte}? {{delimiter={byte}}} says so"
                )
            }
            NoteKind::PerhapsNoHeader(names) => write!(
                f,
                "the first row was taken for the names of columns ({}), and looks like the others; \
                 {{header=false}} says that there are no names",
                listed(names)
            ),
            NoteKind::OtherFieldCount { names, fields } => write!(
                f,
                "the header has {names} names, and rows have {fields} fields; {{fields={fields}}} takes \
                 them for right, {{skip=N}} passes over lines before the header"
            ),
            NoteKind::ExtraColumns(names) => {
                write!(f, "has columns that the table's first file has not: {}", listed(names))
            }
            NoteKind::MissingColumns(names) => {
                write!(f, "lacks columns that the table's first file has: {}", listed(names))
            }
        }
    }
}

/// As it is written in an option.
fn shown(byte: u8) -> String {
    match byte {
        b'\t' => "\"\\t\"".to_string(),
        0x21..=0x7e | b' ' => format!("\"{}\"", char::from(byte)),
        other => other.to_string(),
    }
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(limits::HEADER_NAMES_LISTED_MAX);
    let mut listed = names[..names.len() - more].join(", ");
    if more > 0 {
        listed.push_str(&format!(" and {more} more"));
    }
    listed
}

/// The dialect with the delimiter that the first rows of the file suggest, and what there is to say about it.
pub fn sniff(file: &Path, dialect: &Dialect) -> Result<(Dialect, Option<Note>), Error> {
    let mut sample = Vec::new();
    // Not a pipe: opening one waits for its writer. Whoever opens the file for reading says what is wrong with it.
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let read = File::open(file)
            .and_then(|file| file.take(limits::SNIFF_BYTES as u64).read_to_end(&mut sample));
        read.map_err(|error| Error::read(file, error))?;
    }
    if sample.len() < limits::SNIFF_BYTES {
        sample.push(b'\n');
    }
    let delimiter = delimiter_of(&sample, dialect);
    let dialect = Dialect { delimiter: delimiter.byte, ..dialect.clone() };
    let note = match delimiter {
        Guessed { byte: b',', fields: 0 | 1 } => {
            rare_delimiter_of(&sample, &dialect).map(NoteKind::PerhapsDelimiter)
        }
        Guessed { byte: b',', .. } => None,
        Guessed { byte, .. } => Some(NoteKind::Delimiter(byte)),
    };
    Ok((dialect, note.map(|kind| Note::new(file, kind))))
}

struct Guessed {
    byte: u8,
    /// Of the first record.
    fields: usize,
}

/// The comma wherever it does; else that by which most records have as many fields as the first.
fn delimiter_of(sample: &[u8], dialect: &Dialect) -> Guessed {
    let is_free = |byte: &u8| {
        let others = [dialect.quote, dialect.escape, dialect.comment];
        !others.contains(&Some(*byte))
    };
    let mut best = Division { byte: b',', fields: 1, alike: 0.0 };
    for byte in DELIMITERS.into_iter().filter(is_free) {
        let division = Division::by(byte, sample, dialect);
        if division.fields < 2 {
            continue;
        }
        if byte == b',' && division.alike >= COMMA_ALIKE_MIN {
            return Guessed { byte, fields: division.fields };
        }
        if best.fields < 2 || (division.alike, division.fields) > (best.alike, best.fields) {
            best = division;
        }
    }
    // Of a comma that nearly never does, and another that does not either, nothing is known.
    if best.byte != b',' && best.alike < ALIKE_MIN {
        best = Division::by(b',', sample, dialect);
    }
    Guessed { byte: best.byte, fields: best.fields }
}

/// Of a file that has dirt in it.
const COMMA_ALIKE_MIN: f64 = 0.8;
const ALIKE_MIN: f64 = 0.5;

fn rare_delimiter_of(sample: &[u8], dialect: &Dialect) -> Option<u8> {
    let all = DELIMITERS.into_iter().chain(RARE_DELIMITERS).filter(|byte| *byte != b',');
    all.filter(|byte| dialect.quote != Some(*byte)).find(|byte| {
        let division = Division::by(*byte, sample, dialect);
        division.fields > 1 && division.alike == 1.0
    })
}

/// How a delimiter would divide a sample.
struct Division {
    byte: u8,
    fields: usize,
    /// The share of the records that have as many fields as the first.
    alike: f64,
}

impl Division {
    fn by(byte: u8, sample: &[u8], dialect: &Dialect) -> Division {
        let none = Division { byte, fields: 0, alike: 0.0 };
        let Some((begin, _)) = body_of(sample, dialect) else { return none };
        let syntax = Dialect { delimiter: byte, ..dialect.clone() }.syntax();
        let mut index = Index::new(&sample[begin..], syntax);
        let (mut first_fields, mut records, mut alike) = (None, 0u32, 0u32);
        while let Some(stretch) = index.next_stretch() {
            for (first, fields) in stretch.records() {
                if stretch.is_blank(first, fields) {
                    continue;
                }
                records += 1;
                alike += u32::from(*first_fields.get_or_insert(fields) == fields);
            }
        }
        match first_fields {
            Some(fields) => Division { byte, fields, alike: f64::from(alike) / f64::from(records) },
            None => none,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(sample: &str) -> char {
        char::from(delimiter_of(sample.as_bytes(), &Dialect::default()).byte)
    }

    #[test]
    fn the_delimiter_is_the_one_that_divides_alike() {
        for (sample, expected) in [
            ("a,b\n1,2\n", ','),
            ("a;b\n1,5;2\n", ';'),
            ("a\tb\nx, y\tz\n", '\t'),
            ("a|b|c\n1|2|3\n", '|'),
            ("a;b,c\n1;2,3\n4;5,6\n", ','),
            ("a;b;c,d\n1;2;3\n4;5;6,7,8\n", ';'),
            ("\"a;b\",c\n\"1;2\",3\n", ','),
            ("a\n1\n2\n", ','),
            ("", ','),
            ("name\nx;y\nz\n", ','),
            ("a,b\n1,2\n3\n4,5\n6,7\n8,9\n", ','),
            ("one, two\tthree\n1\t2\n3\t4\n", '\t'),
        ] {
            assert_eq!(delimiter(sample), expected, "{sample:?}");
        }
    }

    #[test]
    fn a_rare_delimiter_is_only_asked_about() {
        let rare = |sample: &str| rare_delimiter_of(sample.as_bytes(), &Dialect::default());
        assert_eq!(rare("a:b\n1:2\n"), Some(b':'));
        assert_eq!(rare("a\u{1}b\n1\u{1}2\n"), Some(1));
        assert_eq!(rare("name\nAda\nBob\n"), None);
        assert_eq!(rare("full name\nAda\nBob B\n"), None);
    }

    #[test]
    fn notes_say_the_option() {
        let note = |kind| Note::new(Path::new("t.csv"), kind).to_string();
        assert_eq!(
            note(NoteKind::Delimiter(b'\t')),
            "t.csv: guessed that fields end with \"\\t\" ({delimiter=\"\\t\"} says it)"
        );
        assert_eq!(
            note(NoteKind::PerhapsDelimiter(1)),
            "t.csv: has one column only; do fields end with 1? {delimiter=1} says so"
        );
    }
}
