//! What there is to say of a table's files before they are read.

use std::fmt;
use std::path::{Path, PathBuf};

use caudal_core::limits;

use crate::encoding::Encoding;

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
    /// A comma divides the rows, and so does this byte.
    AlsoDelimiter(u8),
    /// The encoding is none that was said, and not UTF-8.
    Encoding(Encoding),
    /// On this line is this byte, which is not UTF-8.
    NotUtf8 { line: u64, byte: u8 },
    /// One column, and this byte as often in every line.
    PerhapsDelimiter(u8),
    /// The first record, taken for names, is like those that follow.
    PerhapsNoHeader(Vec<String>),
    /// Columns that are text, and would not be if this option were said.
    PerhapsNotText { option: String, columns: Vec<String> },
    /// Most records have another number of fields than the header.
    OtherFieldCount { names: usize, fields: usize },
    /// Columns that the first file of the table does not have: nobody can ask for them.
    ExtraColumns(Vec<String>),
    /// Columns of the first file that this one does not have: whoever asks for them gets an error.
    MissingColumns(Vec<String>),
    /// Columns that the names of folders say, with their types.
    FolderColumns(Vec<String>),
}

impl Note {
    /// Of a file, or of a table, by the first of its files.
    pub fn new(file: &Path, kind: NoteKind) -> Note {
        Note { file: file.to_path_buf(), kind }
    }

    /// Whether something is probably wrong.
    pub fn is_doubt(&self) -> bool {
        use NoteKind::{AlsoDelimiter, Delimiter, Encoding, FolderColumns};
        !matches!(self.kind, Delimiter(_) | AlsoDelimiter(_) | Encoding(_) | FolderColumns(_))
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
            NoteKind::AlsoDelimiter(byte) => {
                let byte = shown(*byte);
                write!(
                    f,
                    "fields were taken to end with \",\"; {{delimiter={byte}}} would divide every row as well"
                )
            }
            NoteKind::Encoding(encoding) => {
                let name = encoding.name();
                write!(f, "guessed that it is in {name} ({{encoding=\"{name}\"}} says it)")
            }
            NoteKind::NotUtf8 { line, byte } => write!(
                f,
                "line {line} is not UTF-8 (byte {byte:#04x}); {{encoding=\"windows-1252\"}} or \"latin-1\" \
                 reads it otherwise"
            ),
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
            NoteKind::PerhapsNotText { option, columns } => {
                let (are, them) = if columns.len() == 1 { ("is", "it") } else { ("are", "them") };
                write!(
                    f,
                    "{} {are} taken for text; {option} would read {them} otherwise",
                    listed(columns)
                )
            }
            NoteKind::OtherFieldCount { names, fields } => write!(
                f,
                "the header has {names} name{}, and rows have {fields} field{}; {{fields={fields}}} takes \
                 them for right, {{skip=N}} passes over lines before the header",
                plural(*names),
                plural(*fields),
            ),
            NoteKind::ExtraColumns(names) => {
                write!(
                    f,
                    "has columns that the table's first file has not: {}; {{union_by_name=true}} takes them",
                    listed(names)
                )
            }
            NoteKind::MissingColumns(names) => {
                write!(
                    f,
                    "lacks columns that the table's first file has: {}; {{union_by_name=true}} makes them NULL",
                    listed(names)
                )
            }
            NoteKind::FolderColumns(columns) => write!(
                f,
                "its folders say columns: {} ({{hive_partitioning=false}} leaves them out)",
                listed(columns)
            ),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
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

#[cfg(test)]
mod tests {
    use super::*;

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
