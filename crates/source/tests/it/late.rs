//! Names of JSON that come after the beginning from which columns are guessed; first lines that are longer than it.

use std::path::PathBuf;

use caudal_core::{Coded, codes, limits};
use caudal_csv::Type;
use caudal_source::{Codec, Note, Options, Said, Table};

use crate::common::{CODECS, Folder, compress, read_source, small_chunks};

/// So many files that of each no more is looked at than of any.
const FILES: usize = 64;

/// Files of which the first is longer than what is looked at, with these lines at its end.
fn files(folder: &Folder, last: &str) -> Vec<PathBuf> {
    let line = format!("{{\"id\":1,\"o\":{{\"a\":\"{}\"}}}}\n", "x".repeat(980));
    let long = line.repeat(limits::INFER_FILE_BYTES_MIN / line.len() + 1);
    let short = |at| folder.file(&format!("{at}.json"), &line);
    let first = folder.file("0.json", long + last);
    std::iter::once(first).chain((1..FILES).map(short)).collect()
}

/// What is told once columns of these names have been read.
fn told(table: &Table, names: &[&str], options: Options) -> Vec<String> {
    let schema = table.schema();
    let places = names.iter().map(|name| schema.index_of(name).unwrap()).collect();
    let source = table.open(places, options).unwrap();
    read_source(source.as_ref()).unwrap();
    let told = |note: &Note| note.kind_and_file();
    source.notes().iter().map(told).collect()
}

trait Short {
    fn kind_and_file(&self) -> String;
}

impl Short for Note {
    /// Without the folder.
    fn kind_and_file(&self) -> String {
        self.to_string().rsplit('/').next().unwrap_or_default().to_string()
    }
}

#[test]
fn objects_with_names_that_come_late_are_counted() {
    let folder = Folder::new();
    let last = "{\"id\":2,\"late\":1.5,\"o\":{\"b\":1}}\n{\"late\":2,\"id\":2}\n{\"id\":\"no\",\"never\":1}\n{\"id\":3,\"o\":{\"a\":\"x\"}}\n";
    let files = files(&folder, last);
    let lines = std::fs::read_to_string(&files[0]).unwrap().lines().count();
    let (table, notes) = Table::of("t", &files, &Said::default()).unwrap();
    assert_eq!(notes, []);
    let of = |names: &str| {
        format!(
            "0.json: 2 objects have names that are no columns: {names} (line {}); {{types={{late=\"float\"}}}} makes columns of them",
            lines - 3
        )
    };
    assert_eq!(told(&table, &["id"], small_chunks()), [of("late")]);
    assert_eq!(told(&table, &["o", "id"], small_chunks()), [of("late, o.b")]);
    // Of columns that nobody needs nothing is known, but that they are columns.
    let all = Options { judge_all_columns: true, ..small_chunks() };
    assert_eq!(told(&table, &["id"], all), [of("late, o.b")]);
}

#[test]
fn a_type_makes_a_column_of_a_name_that_comes_late() {
    let folder = Folder::new();
    let files = files(&folder, "{\"id\":2,\"late\":7}\n");
    let types = [("late".to_string(), Type::Int64), ("idd".to_string(), Type::Text)].into();
    let (table, notes) = Table::of("t", &files, &Said { types, ..Said::default() }).unwrap();
    let notes: Vec<String> = notes.iter().map(Short::kind_and_file).collect();
    assert_eq!(
        notes,
        [
            "0.json: idd is a column because types says so: the first objects do not have it; is id meant?",
            "0.json: late is a column because types says so: the first objects do not have it",
        ]
    );
    let source = table.open(vec![table.schema().index_of("late").unwrap()], Options::default());
    let source = source.unwrap();
    let content = read_source(source.as_ref()).unwrap();
    let sevens = content.rows().iter().filter(|row| row[0].as_deref() == Some("7")).count();
    assert_eq!((sevens, content.rejects.len(), source.notes()), (1, 0, vec![]));
}

#[test]
fn a_first_line_that_is_too_long_ends_at_once() {
    let folder = Folder::new();
    let long = "x".repeat(17 << 20) + "\n1\n";
    let mut contents: Vec<Vec<u8>> = vec![long.clone().into_bytes()];
    contents.extend([Codec::Gzip, Codec::Zstd].map(|codec| compress(codec, long.as_bytes())));
    for content in contents {
        let file = folder.file("t", content);
        let error = Table::guessed("t", &[file]).unwrap_err();
        assert_eq!(error.code(), codes::RECORD_TOO_LONG, "{error}");
    }
}

#[test]
fn an_archive_is_none_of_the_formats_however_it_is_compressed() {
    let folder = Folder::new();
    let mut archive = b"t.csv".to_vec();
    archive.resize(257, 0);
    archive.extend_from_slice(b"ustar\x0000");
    archive.resize(512, 0);
    archive.extend_from_slice(b"a,b\n1,2\n");
    for content in
        CODECS.map(|codec| compress(codec, &archive)).into_iter().chain([archive.clone()])
    {
        let error = Table::guessed("t", &[folder.file("t", content)]).unwrap_err();
        assert_eq!(error.code(), codes::NOT_CSV, "{error}");
    }
}

#[test]
fn arrays_of_anything_but_objects_are_no_tables() {
    let folder = Folder::new();
    for content in ["[1,2,3]", "[\n  1,\n  2\n]\n", "[\"a\",\"b\"]\n[\"c\",\"d\"]\n", "[null]"] {
        let error = Table::guessed("t", &[folder.file("t", content)]).unwrap_err();
        assert_eq!(error.code(), codes::NO_TABLE_IN_FILE, "{content}: {error}");
    }
}
