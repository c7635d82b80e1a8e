//! Guesses about how a file is written.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use caudal_core::limits;

use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::error::Error;
use crate::header::{body_of, delimiter_of_first_line};
use crate::index::Index;
use crate::note::{Note, NoteKind};

/// What the delimiter may be, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Bytes that divide records as well, in files that few have.
const RARE_DELIMITERS: [u8; 5] = [b':', b'^', b'~', 0x01, 0x1f];

/// What of a dialect is to be found out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unsaid {
    pub delimiter: bool,
    pub encoding: bool,
}

/// The dialect with what was not said of it as the first rows of the file suggest, and what there is to say about that.
pub fn sniff(
    file: &Path,
    dialect: &Dialect,
    unsaid: Unsaid,
) -> Result<(Dialect, Vec<Note>), Error> {
    // Not a pipe: opening one waits for its writer. Whoever opens the file for reading says what is wrong with it.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok((dialect.clone(), vec![]));
    }
    let mut head = Vec::new();
    let read = File::open(file)
        .and_then(|file| file.take(limits::SNIFF_BYTES as u64).read_to_end(&mut head));
    read.map_err(|error| Error::read(file, error))?;
    let is_whole = head.len() < limits::SNIFF_BYTES;
    Ok(sniff_head(file, head, is_whole, dialect, unsaid))
}

/// The same of a file that begins with these bytes.
pub fn sniff_head(
    file: &Path,
    head: Vec<u8>,
    is_whole: bool,
    dialect: &Dialect,
    unsaid: Unsaid,
) -> (Dialect, Vec<Note>) {
    let (mut dialect, mut kinds) = (dialect.clone(), vec![]);
    if unsaid.encoding && has_utf16_mark(&head) {
        dialect.encoding = Encoding::Utf16;
        kinds.push(NoteKind::Encoding(Encoding::Utf16));
    }
    let mut sample = dialect.encoding.of_file(&head).decoded(head);
    if is_whole {
        sample.push(b'\n');
    }
    let said = delimiter_of_first_line(&sample).filter(|_| dialect.skip_lines == 0);
    if let (true, Some(byte)) = (unsaid.delimiter, said) {
        dialect.delimiter = byte;
    } else if unsaid.delimiter {
        let guessed = delimiter_of(&sample, &dialect);
        dialect.delimiter = guessed.byte;
        kinds.extend(note_of(&guessed, &sample, &dialect));
    }
    kinds.extend(quote_of(&sample, &dialect).map(NoteKind::PerhapsQuote));
    (dialect, kinds.into_iter().map(|kind| Note::new(file, kind)).collect())
}

fn has_utf16_mark(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff")
}

fn note_of(guessed: &Guessed, sample: &[u8], dialect: &Dialect) -> Option<NoteKind> {
    match *guessed {
        Guessed { fields: 0 | 1, .. } => {
            let rare = rare_delimiter_of(sample, dialect).map(NoteKind::PerhapsDelimiter);
            rare.or_else(|| blanks_of(sample))
        }
        Guessed { byte: b',', .. } => {
            other_delimiter_of(sample, dialect).map(NoteKind::AlsoDelimiter)
        }
        Guessed { byte, .. } => Some(NoteKind::Delimiter(byte)),
    }
}

struct Guessed {
    byte: u8,
    /// Of the first record.
    fields: usize,
}

/// The comma wherever it does; else that by which most records have as many fields as the first.
fn delimiter_of(sample: &[u8], dialect: &Dialect) -> Guessed {
    // A comma, unless that is within numbers.
    let usual = DELIMITERS.into_iter().find(|byte| is_free(*byte, dialect)).unwrap_or(b',');
    let mut best = Division { byte: usual, fields: 1, alike: 0.0 };
    for byte in DELIMITERS.into_iter().filter(|byte| is_free(*byte, dialect)) {
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
    if best.byte != usual && best.alike < ALIKE_MIN {
        best = Division::by(usual, sample, dialect);
    }
    Guessed { byte: best.byte, fields: best.fields }
}

/// Of a file that has dirt in it.
const COMMA_ALIKE_MIN: f64 = 0.8;
const ALIKE_MIN: f64 = 0.5;

fn rare_delimiter_of(sample: &[u8], dialect: &Dialect) -> Option<u8> {
    let all = DELIMITERS.into_iter().chain(RARE_DELIMITERS).filter(|byte| *byte != b',');
    all.filter(|byte| is_free(*byte, dialect)).find(|byte| {
        let division = Division::by(*byte, sample, dialect);
        division.fields > 1 && division.alike == 1.0
    })
}

/// Whether every line has as many words as the first, and more than one.
fn blanks_of(sample: &[u8]) -> Option<NoteKind> {
    let whole = &sample[..memchr::memrchr(b'\n', sample)?];
    let lines = whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let words = |line: &[u8]| {
        let words = line.split(u8::is_ascii_whitespace);
        (words.clone().filter(|word| !word.is_empty()).count(), words.count())
    };
    let (first, first_parts) = words(lines.next()?);
    let (mut rows, mut are_single) = (0, first == first_parts);
    for line in lines {
        let (count, parts) = words(line);
        if count != first {
            return None;
        }
        rows += 1;
        are_single &= count == parts;
    }
    let note = if are_single { NoteKind::PerhapsDelimiter(b' ') } else { NoteKind::PerhapsAligned };
    (first > 1 && rows > 0).then_some(note)
}

/// Another quote, if with it all records are alike and without it they are not.
fn quote_of(sample: &[u8], dialect: &Dialect) -> Option<u8> {
    const QUOTE: u8 = b'\'';
    let is_another = dialect.quote == Some(b'"') && is_free(QUOTE, dialect);
    let begins = [b'\n', dialect.delimiter].map(|byte| [byte, QUOTE]);
    let is_there = |begin: &[u8; 2]| memchr::memmem::find(sample, begin).is_some();
    if !is_another || dialect.delimiter == QUOTE || !begins.iter().any(is_there) {
        return None;
    }
    let now = Division::by(dialect.delimiter, sample, dialect);
    let quoted = Dialect { quote: Some(QUOTE), ..dialect.clone() };
    let then = Division::by(dialect.delimiter, sample, &quoted);
    (now.alike < 1.0 && then.alike == 1.0 && then.fields > 1).then_some(QUOTE)
}

/// Another that divides all records alike.
fn other_delimiter_of(sample: &[u8], dialect: &Dialect) -> Option<u8> {
    let mut others = DELIMITERS.into_iter().filter(|byte| *byte != b',' && is_free(*byte, dialect));
    others.find(|byte| {
        let division = Division::by(*byte, sample, dialect);
        division.fields > 1 && division.alike == 1.0
    })
}

/// Whether a byte means nothing else.
fn is_free(byte: u8, dialect: &Dialect) -> bool {
    let Dialect { quote, escape, comment, ref formats, .. } = *dialect;
    ![quote, escape, comment, Some(formats.decimal)].contains(&Some(byte))
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
                // Lines before the header that nobody has called comments yet.
                let is_remark = records == 0 && stretch.raw_field(first as usize).starts_with(b"#");
                if stretch.is_blank(first, fields) || is_remark {
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
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn a_table_is_divided_by_what_it_was_written_with(
            rows in (2usize..6).prop_flat_map(|columns| {
                let cell = "[a-z0-9. ]{0,8}|[0-9]{1,3},[0-9]{2}|\"[a-z,;|\n]{0,8}\"";
                proptest::collection::vec(proptest::collection::vec(cell, columns), 2..20)
            }),
            byte in prop::sample::select(DELIMITERS.to_vec()),
        ) {
            let header: Vec<String> = (0..rows[0].len()).map(|n| format!("name {n}")).collect();
            let delimiter = char::from(byte).to_string();
            let plain = |cell: &String| match cell.starts_with('"') || byte != b',' {
                true => cell.clone(),
                false => cell.replace(',', ""),
            };
            let line = |row: &Vec<String>| row.iter().map(plain).collect::<Vec<_>>().join(&delimiter);
            let lines: Vec<String> = std::iter::once(&header).chain(&rows).map(line).collect();
            prop_assert_eq!(delimiter_of((lines.join("\n") + "\n").as_bytes(), &Dialect::default()).byte, byte);
        }
    }

    #[test]
    fn another_that_would_do_as_well_is_told() {
        let told = |sample: &str, decimal: u8| {
            let mut dialect = Dialect::default();
            dialect.formats.decimal = decimal;
            let guessed = delimiter_of(sample.as_bytes(), &dialect);
            note_of(&guessed, sample.as_bytes(), &dialect)
        };
        let numbers = "1,5;2,5\n3,5;4,5\n";
        assert_eq!(told(numbers, b'.'), Some(NoteKind::AlsoDelimiter(b';')));
        assert_eq!(told(numbers, b','), Some(NoteKind::Delimiter(b';')));
        assert_eq!(told("a,b\nx;y,2\n", b'.'), None);
        assert_eq!(told("a\n1,5\n", b','), None);
    }

    fn told(text: &str) -> (Dialect, Vec<NoteKind>) {
        let unsaid = Unsaid { delimiter: true, encoding: true };
        let head = text.as_bytes().to_vec();
        let (dialect, notes) = sniff_head(Path::new("t"), head, true, &Dialect::default(), unsaid);
        (dialect, notes.into_iter().map(|note| note.kind).collect())
    }

    #[test]
    fn what_a_file_says_of_its_delimiter_is_heard() {
        let (dialect, notes) = told("sep=|\na,b|c\n1|2\n");
        assert_eq!((dialect.delimiter, notes), (b'|', vec![]));
    }

    #[test]
    fn comments_before_the_header_do_not_divide_it() {
        let (dialect, notes) = told("# made today, by x\n#\na;b\n1;2\n");
        assert_eq!((dialect.delimiter, notes), (b';', vec![NoteKind::Delimiter(b';')]));
        assert_eq!(told("#chrom\tstart\n1\t2\n").0.delimiter, b'\t');
    }

    #[test]
    fn other_quotes_and_aligned_columns_are_asked_about() {
        assert_eq!(told("a,b\n'x,y',1\n'z',2\n").1, [NoteKind::PerhapsQuote(b'\'')]);
        assert_eq!(told("a,b\n'tis,1\nit's,2\n").1, []);
        assert_eq!(told("id   name\n1    Ada\n22   Bob\n").1, [NoteKind::PerhapsAligned]);
        assert_eq!(told("id name\n1 Ada\n22 Bob\n").1, [NoteKind::PerhapsDelimiter(b' ')]);
        assert_eq!(told("name\nAda\nBob B\n").1, []);
    }

    #[test]
    fn a_rare_delimiter_is_only_asked_about() {
        let rare = |sample: &str| rare_delimiter_of(sample.as_bytes(), &Dialect::default());
        assert_eq!(rare("a:b\n1:2\n"), Some(b':'));
        assert_eq!(rare("a\u{1}b\n1\u{1}2\n"), Some(1));
        assert_eq!(rare("name\nAda\nBob\n"), None);
        assert_eq!(rare("full name\nAda\nBob B\n"), None);
    }
}
