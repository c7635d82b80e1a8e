//! What there is to say of a table's files before they are read.

use std::fmt;
use std::path::{Path, PathBuf};

use caudal_core::limits;

use crate::encoding::Encoding;
use crate::spec::Type;

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
    /// Columns that are text, and would not be if one of these options were said.
    PerhapsNotText { options: Vec<String>, columns: Vec<String> },
    /// A column that is text for very few of its values, or for integers that are too large for any type of integers.
    OddValues {
        column: String,
        /// What the others are of; of integers that are too large, what would take them.
        ty: Type,
        are_too_large: bool,
        count: u64,
        /// Number of all that were looked at.
        values: u64,
        /// Where the first is, in this file.
        line: Option<u64>,
        first: String,
        /// The word that all of them are.
        null: Option<String>,
    },
    /// Names that objects of JSON have, and no column of the table: they come after what columns were guessed from. The first
    /// is on this line.
    LateNames { names: Vec<LateName>, objects: u64, line: u64 },
    /// A column that is one because its type was said: none of the objects that were looked at has it. This one may be meant.
    NotSeen { column: String, nearest: Option<String> },
    /// It is the first of its table, of which others lack columns.
    SaysColumns,
    /// A file of the table that this one may be a compressed copy of.
    PerhapsTwice(PathBuf),
    /// So many more columns like that.
    MoreOddValues(usize),
    /// One column, and nothing but its name.
    OneColumnNoRows,
    /// Lines before the header seem to be comments that begin like this.
    PerhapsComment(u8),
    /// Fields seem to be within this quote.
    PerhapsQuote(u8),
    /// One column, and every line has as many words.
    PerhapsAligned,
    /// Most records have another number of fields than the header.
    OtherFieldCount { names: usize, fields: usize },
    /// Columns that the first file of the table does not have: nobody can ask for them.
    ExtraColumns(Vec<String>),
    /// Columns of the first file that this one does not have: whoever asks for them gets an error.
    MissingColumns(Vec<String>),
    /// Names that are said of a table of JSON, and that no object has at the beginning of its files.
    NamesNotSeen(Vec<String>),
    /// Columns that the names of folders say, with their types.
    FolderColumns(Vec<String>),
}

/// A name in a file that is no column, and the word for the type that its values suggest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateName {
    pub name: String,
    pub ty: &'static str,
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
            NoteKind::PerhapsNotText { options, columns } => {
                let (are, them) = if columns.len() == 1 { ("is", "it") } else { ("are", "them") };
                let options = options.join(" or ");
                write!(
                    f,
                    "{} {are} taken for text; {options} would read {them} otherwise",
                    listed(columns)
                )
            }
            NoteKind::LateNames { names, objects, line } => fmt_late_names(f, names, *objects, *line),
            NoteKind::NotSeen { column, nearest } => {
                write!(f, "{column} is a column because types says so: the first objects do not have it")?;
                match nearest {
                    Some(nearest) => write!(f, "; is {nearest} meant?"),
                    None => Ok(()),
                }
            }
            NoteKind::SaysColumns => {
                f.write_str("is the table's first file, and says which columns there are")
            }
            NoteKind::PerhapsTwice(other) => {
                let other = other.display();
                write!(f, "{other} is in the table as well: do both have the same rows?")
            }
            NoteKind::OddValues { .. } => self.fmt_odd_values(f),
            NoteKind::MoreOddValues(count) => {
                let (column, are) = if *count == 1 { ("column", "is") } else { ("columns", "are") };
                write!(f, "{count} more {column} {are} taken for text because of few values")
            }
            NoteKind::OneColumnNoRows => f.write_str("has one column and no rows: is it a table?"),
            NoteKind::PerhapsComment(byte) => {
                let byte = shown(*byte);
                write!(
                    f,
                    "its first line, which begins with {byte}, was taken for the names of columns; \
                     {{comment={byte}}} passes over lines that begin so"
                )
            }
            NoteKind::PerhapsQuote(byte) => {
                let byte = shown(*byte);
                write!(f, "are fields in quotes that are {byte}? {{quote={byte}}} says so")
            }
            NoteKind::PerhapsAligned => f.write_str(
                "has one column only; are its fields aligned with blanks? tr -s ' ' ',' < FILE makes CSV of them",
            ),
            NoteKind::OtherFieldCount { names, fields } => write!(
                f,
                "the header has {names} name{}, and rows have {fields} field{}; {{fields={fields}}} takes \
                 them for right (names after one that is missing or too many are then those of their \
                 neighbours), {{skip=1, header=false}} leaves the names out, {{skip=N}} passes over lines \
                 before the header",
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
            NoteKind::NamesNotSeen(names) => write!(
                f,
                "no object at its beginning has {}: NULL unless later ones have",
                listed(names)
            ),
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

impl Note {
    fn fmt_odd_values(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoteKind::OddValues { column, ty, are_too_large, count, values, line, first, null } =
            &self.kind
        else {
            return Ok(());
        };
        write!(f, "{} is taken for text because of {count} of {values} values", column)?;
        let first = cut(first);
        match line {
            Some(line) => write!(f, " (line {line}: \"{first}\")")?,
            None => write!(f, " (\"{first}\")")?,
        }
        let does = match are_too_large {
            true => "takes them, rounded: no type of integers has so many digits",
            false => "makes such rows rejects",
        };
        write!(f, "; {{types={{{}=\"{}\"}}}} {does}", toml_key(column), ty.word())?;
        match null {
            Some(word) => write!(f, ", {{null='{word}'}} makes them NULL"),
            None => Ok(()),
        }
    }
}

fn fmt_late_names(
    f: &mut fmt::Formatter<'_>,
    names: &[LateName],
    objects: u64,
    line: u64,
) -> fmt::Result {
    let have = if objects == 1 { "object has" } else { "objects have" };
    let all: Vec<String> = names.iter().map(|late| late.name.clone()).collect();
    write!(f, "{objects} {have} names that are no columns: {} (line {line})", listed(&all))?;
    // Of an object within another no columns are made.
    let types = names.iter().filter(|late| !late.name.contains('.'));
    let types = types.take(limits::HEADER_NAMES_LISTED_MAX);
    let types: Vec<String> =
        types.map(|late| format!("{}=\"{}\"", toml_key(&late.name), late.ty)).collect();
    match types.is_empty() {
        true => Ok(()),
        false => write!(f, "; {{types={{{}}}}} makes columns of them", types.join(", ")),
    }
}

/// A name as TOML has it: bare, if it can be.
fn toml_key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_string(),
        false => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// Enough of a value to find it.
fn cut(value: &str) -> String {
    match value.char_indices().nth(limits::REJECT_VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_string(),
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
