//! A table's columns, guessed from its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use caudal_core::limits;

use crate::beginning::Beginning;
use crate::columns::trim_spaces;
use crate::dialect::Dialect;
use crate::doubt::{doubts, is_like_values};
use crate::error::Error;
use crate::field::{owned_value, without_cr};
use crate::guess::Guess;
use crate::index::Index;
use crate::names::{columns_of, differences, more_columns, places_of};
use crate::note::{Note, NoteKind};
use crate::odd::{self, Place};
use crate::otherwise::{self, Otherwise};
use crate::sample::Sample;
use crate::spec::Column;

/// What files say of their table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    pub columns: Vec<Column>,
    /// The names of the first file's columns; of each file, if the table has the columns of all of them.
    pub headers: Vec<Vec<String>>,
    /// What looks as if it were not meant so.
    pub notes: Vec<Note>,
}

/// The columns of the first file's header, with the narrowest type that fits the values at the start of
/// every file, and in the middle and at the end of large ones. Later values may still not fit: they become rejects.
///
/// A column whose name is empty or not unique is referred to by its index.
///
/// `fields` says how many fields a record has, where the header lies about it: columns beyond the header have no name.
pub fn infer(
    files: &[PathBuf],
    dialect: &Dialect,
    fields: Option<usize>,
) -> Result<Inferred, Error> {
    infer_inputs(files, dialect, fields, false, |_| Ok(Beginning::File))
}

/// The same for files of which some may come in their order only; `open` is given a file's place among them. Of all files
/// together, columns are those that any of them has.
pub fn infer_inputs<E: From<Error>>(
    files: &[PathBuf],
    dialect: &Dialect,
    fields: Option<usize>,
    union_by_name: bool,
    mut open: impl FnMut(usize) -> Result<Beginning, E>,
) -> Result<Inferred, E> {
    let (mut notes, mut headers) = (vec![], vec![]);
    let (mut columns, mut guesses, mut has_rows) = (vec![], vec![], false);
    let [first, ..] = files else { return Ok(Inferred { columns, headers, notes }) };
    let sample_bytes = (limits::INFER_BYTES / files.len()).max(limits::INFER_FILE_BYTES_MIN);
    for (at, file) in files.iter().enumerate() {
        let (mut header, samples) = open(at)?.look_at(file, dialect, sample_bytes)?;
        check_width(file, fields.unwrap_or_default())?;
        header.names.resize(fields.unwrap_or(header.names.len()), String::new());
        check_width(file, header.names.len())?;
        if at == 0 {
            columns = columns_of(&header.names);
        } else if union_by_name {
            columns.extend(more_columns(&header.names, &columns));
            check_width(file, columns.len())?;
        }
        guesses.resize(columns.len(), Guess::of(&dialect.formats));
        if at == 0 || union_by_name {
            headers.push(header.names.clone());
        }
        notes.extend(differences(file, &header.names, &headers[0], union_by_name, &columns));
        let places = places_of(&columns, &header.names);
        for sample in samples {
            has_rows |= !sample.text().trim_ascii().is_empty();
            let origin = Origin { file: at, body_line: header.body_line, places: &places };
            let found = look_at(&sample, dialect, header.names.len(), &origin, &mut guesses);
            notes.extend(doubts(&sample, &header, found).map(|kind| Note::new(file, kind)));
        }
    }
    for (column, guess) in columns.iter_mut().zip(&guesses) {
        column.ty = guess.narrowest();
    }
    let Otherwise { notes: kinds, is_told } =
        otherwise::look_at(&dialect.formats, &columns, &guesses);
    notes.extend(kinds.into_iter().map(|kind| Note::new(first, kind)));
    notes.extend(odd::notes(files, &columns, &guesses, &is_told));
    if notes.iter().any(|note| matches!(note.kind, NoteKind::MissingColumns(_))) {
        notes.push(Note::new(first, NoteKind::SaysColumns));
    }
    let is_name_alone =
        dialect.has_header && matches!(&guesses[..], [guess] if !guess.has_values()) && !has_rows;
    if is_name_alone {
        notes.push(Note::new(first, NoteKind::OneColumnNoRows));
    }
    if dialect.has_header && is_like_values(&headers[0], &guesses) {
        notes.insert(0, Note::new(first, NoteKind::PerhapsNoHeader(headers[0].clone())));
    }
    Ok(Inferred { columns, headers, notes })
}

/// Fails if there are more columns than queries can be planned over.
fn check_width(file: &Path, columns: usize) -> Result<(), Error> {
    match columns > limits::TABLE_COLUMNS_MAX {
        true => Err(Error::TooManyColumns { file: file.to_path_buf(), columns }),
        false => Ok(()),
    }
}

/// Where a sample comes from.
struct Origin<'a> {
    /// Of the files of the table.
    file: usize,
    body_line: u64,
    /// Of each column of the table, its place in the file.
    places: &'a [Option<usize>],
}

/// Returns how many fields the records have, where most of them do not have as many as they should.
fn look_at(
    sample: &Sample,
    dialect: &Dialect,
    fields: usize,
    origin: &Origin<'_>,
    guesses: &mut [Guess<'_>],
) -> Option<usize> {
    let syntax = dialect.syntax();
    let records = sample.records(syntax, fields)?;
    let mut index = Index::new(&records, syntax);
    let mut is_whole = !sample.is_cut();
    let mut counts = BTreeMap::<usize, usize>::new();
    while let Some(stretch) = index.next_stretch() {
        for (first, found) in stretch.records() {
            if !std::mem::replace(&mut is_whole, true) {
                continue;
            }
            if found != fields {
                *counts.entry(found).or_default() += usize::from(!stretch.is_blank(first, found));
                continue;
            }
            *counts.entry(found).or_default() += 1;
            let begin = stretch.starts[first as usize] as usize;
            // Of what is cut out of a file nobody has counted the lines before it.
            let line =
                || origin.body_line + memchr::memchr_iter(b'\n', &records[..begin]).count() as u64;
            let place_of_row = || Place { file: origin.file, line: (!sample.is_cut()).then(line) };
            for (place, guess) in origin.places.iter().zip(guesses.iter_mut()) {
                if let Some(place) = place
                    && guess.is_open()
                {
                    let raw = stretch.raw_field(first as usize + place);
                    let raw = without_cr(raw);
                    if !guess.formats.is_null(trim_spaces(raw)) {
                        guess.look_at(trim_spaces(&owned_value(raw, syntax)), place_of_row);
                    }
                }
            }
        }
    }
    let (commonest, count) = counts.iter().max_by_key(|(_, count)| **count)?;
    let is_most = 2 * count > counts.values().sum::<usize>();
    (is_most && *commonest != fields).then_some(*commonest)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use caudal_core::{Coded, codes};

    use super::*;
    use crate::formats::Formats;
    use crate::guess::LARGE_INTEGER;
    use crate::spec::{At, Type};

    fn inferred(contents: &[&str]) -> Vec<(String, At, Type)> {
        let dir = tempfile::tempdir().unwrap();
        let file = |(i, content): (usize, &&str)| {
            let path = dir.path().join(format!("{i}.csv"));
            fs::write(&path, content).unwrap();
            path
        };
        let files: Vec<PathBuf> = contents.iter().enumerate().map(file).collect();
        let columns = infer(&files, &Dialect::default(), None).unwrap().columns;
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

    fn notes(contents: &[&str]) -> Vec<NoteKind> {
        let dir = tempfile::tempdir().unwrap();
        let file = |(i, content): (usize, &&str)| {
            let path = dir.path().join(format!("{i}.csv"));
            fs::write(&path, content).unwrap();
            path
        };
        let files: Vec<PathBuf> = contents.iter().enumerate().map(file).collect();
        let notes = infer(&files, &Dialect::default(), None).unwrap().notes;
        notes.into_iter().map(|note| note.kind).collect()
    }

    #[test]
    fn a_header_that_is_like_the_rows_is_doubted() {
        let names = |names: [&str; 2]| names.map(String::from).to_vec();
        assert_eq!(notes(&["1,Chess\n2,Go\n"]), [NoteKind::PerhapsNoHeader(names(["1", "Chess"]))]);
        assert_eq!(
            notes(&["2024-01-01,x\n2024-01-02,y\n"]),
            [NoteKind::PerhapsNoHeader(names(["2024-01-01", "x"]))]
        );
        for fine in ["id,name\n1,Chess\n", "2023,2024\nx,y\n", "1,2\n", "t,f\nx,y\n"] {
            assert_eq!(notes(&[fine]), [], "{fine}");
        }
    }

    #[test]
    fn the_middle_and_the_end_of_a_large_file_count() {
        let rows = |text: &str, times| text.repeat(times);
        let begin = rows("1,2\n", limits::INFER_BYTES / 4);
        let file = |middle: &str, end: &str| {
            let quiet = rows("3,4\n", limits::INFER_BYTES / 16);
            let around = rows(middle, limits::INFER_BYTES / 8 / middle.len());
            format!("a,b\n{begin}{quiet}{around}{quiet}{begin}{end}")
        };
        assert_eq!(types(&file("3,4\n", "5,6\n")), [Type::Int64, Type::Int64]);
        assert_eq!(types(&file("3,4\n", "5.5,6\n")), [Type::Float64, Type::Int64]);
        assert_eq!(types(&file("3,\"x, \"\"\n4,5\n\"\n", "5,6\n")), [Type::Int64, Type::Text]);
        // What is between the samples is not seen.
        let early = format!("a,b\n{begin}x,y\n{begin}{begin}");
        assert_eq!(types(&early), [Type::Int64, Type::Int64]);
    }

    #[test]
    fn text_that_is_not_utf8_is_told_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        let kinds = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            let inferred = infer(std::slice::from_ref(&path), &Dialect::default(), None).unwrap();
            inferred.notes.into_iter().map(|note| note.kind).collect::<Vec<_>>()
        };
        let told = |line| vec![NoteKind::NotUtf8 { line, byte: 0xe9 }];
        assert_eq!(kinds(b"a\nx\ncaf\xe9 x\n"), told(3));
        assert_eq!(kinds(b"caf\xe9\nx\n"), told(1));
        assert_eq!(kinds("año\ncafé\n".as_bytes()), []);
    }

    #[test]
    fn texts_that_need_not_be_are_told() {
        let rows = "1;2\n".repeat(5000);
        let told = |option: &str, columns: &[&str]| NoteKind::PerhapsNotText {
            options: vec![option.to_string()],
            columns: columns.iter().map(|name| name.to_string()).collect(),
        };
        assert_eq!(notes(&[&format!("a,b\n{}", rows.replace(';', ","))]), []);
        let late = format!("a,b\n{}NA,3\n", rows.replace(';', ","));
        assert_eq!(notes(&[&late]), [told("{null='NA'}", &["a"])]);
    }

    #[test]
    fn a_name_without_rows_and_a_comment_are_doubted() {
        assert_eq!(notes(&["v\n"]), [NoteKind::OneColumnNoRows]);
        assert_eq!(notes(&["v\nx\n"]), []);
        assert_eq!(notes(&["v,w\n"]), []);
        assert_eq!(notes(&["# of today\na,b\n1,2\n3,4\n"]), [NoteKind::PerhapsComment(b'#')]);
        assert_eq!(notes(&["# of today\n# again\na\n"]), [NoteKind::PerhapsComment(b'#')]);
        assert_eq!(notes(&["#id,b\n1,2\n"]), []);
    }

    #[test]
    fn a_table_has_so_many_columns_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        let infer = |columns: usize, fields| {
            fs::write(&path, "x,".repeat(columns - 1) + "x\n").unwrap();
            infer(std::slice::from_ref(&path), &Dialect::default(), fields)
        };
        let columns = infer(limits::TABLE_COLUMNS_MAX, None).unwrap().columns;
        assert_eq!(columns[9999].name, "x_10000");
        for (columns, fields) in [(limits::TABLE_COLUMNS_MAX + 1, None), (2, Some(1 << 40))] {
            let error = infer(columns, fields).unwrap_err();
            assert_eq!(error.code(), codes::TOO_MANY_COLUMNS);
        }
    }

    #[test]
    fn columns_of_all_files_are_those_that_any_has() {
        let dir = tempfile::tempdir().unwrap();
        let texts = ["a,b\n1,x\n", "c,a,,d,d\n2024-01-01,2.5,1,2,3\n", "b\ny\n"];
        let file = |(at, text): (usize, &&str)| {
            let path = dir.path().join(format!("{at}.csv"));
            fs::write(&path, text).unwrap();
            path
        };
        let files: Vec<PathBuf> = texts.iter().enumerate().map(file).collect();
        let look = |_| Ok::<_, Error>(Beginning::File);
        let inferred = infer_inputs(&files, &Dialect::default(), None, true, look).unwrap();
        let columns = inferred.columns.iter().map(|column| (column.name.as_str(), column.ty));
        assert!(columns.eq([("a", Type::Float64), ("b", Type::Text), ("c", Type::Date)]));
        assert_eq!(inferred.headers[2], ["b"]);
        let untaken = ["", "d", "d"].map(String::from).to_vec();
        let notes: Vec<_> = inferred.notes.into_iter().map(|note| note.kind).collect();
        assert_eq!(notes, [NoteKind::ExtraColumns(untaken)]);
    }

    #[test]
    fn files_of_other_columns_are_told() {
        let of = |name: &str| vec![name.to_string()];
        assert_eq!(notes(&["a,b\n1,2\n", "b,a\n1,2\n"]), []);
        assert_eq!(
            notes(&["a,b\n1,2\n", "a,c\n1,2\n"]),
            [
                NoteKind::ExtraColumns(of("c")),
                NoteKind::MissingColumns(of("b")),
                NoteKind::SaysColumns
            ]
        );
    }

    #[test]
    fn what_values_look_like_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        fs::write(&path, "a;b;c;d;e\n1,5;31/01/2024;x;NA;1\nNA;1/2/2024;;7;0\n").unwrap();
        let mut dialect = Dialect { delimiter: b';', ..Dialect::default() };
        dialect.formats = Formats {
            nulls: vec!["NA".into()],
            truths: vec!["x".into(), "1".into()],
            falsehoods: vec!["0".into()],
            decimal: b',',
            date: Some(crate::TimeFormat::new("%d/%m/%Y").unwrap()),
            ..Formats::default()
        };
        let types: Vec<Type> = infer(&[path], &dialect, None)
            .unwrap()
            .columns
            .into_iter()
            .map(|column| column.ty)
            .collect();
        use Type::*;
        assert_eq!(types, [Float64, Date, Boolean, Int64, Boolean]);
    }

    #[test]
    fn a_header_of_too_few_names_is_doubted() {
        let text = "a,b\n1,x,2\n3,y,4\n";
        assert_eq!(notes(&[text]), [NoteKind::OtherFieldCount { names: 2, fields: 3 }]);
        assert_eq!(notes(&["a,b\n1,2\n3\n4,5\n"]), []);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        fs::write(&path, text).unwrap();
        let inferred = infer(&[path], &Dialect::default(), Some(3)).unwrap();
        let names: Vec<_> = inferred.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((names, inferred.notes), (vec!["a", "b", "column_3"], vec![]));
        assert_eq!(inferred.columns[2].ty, Type::Int64);
    }
}
