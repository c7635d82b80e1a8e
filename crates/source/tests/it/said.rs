//! What is said of files, and what is guessed and told of them, however they come.

use std::path::PathBuf;

use caudal_core::{Coded, codes};
use caudal_csv::{Dialect, Encoding, NoteKind, Type, Unsaid};
use caudal_source::{Codec, Error, Note, Options, Said, Table};

use crate::common::{Content, Folder, compress, guessed, read, read_source, small_chunks};
use crate::{formats, write};

fn of(file: PathBuf, said: &Said) -> Result<(Table, Vec<Note>), Error> {
    Table::of("t", &[file], said)
}

fn rows(content: Content) -> Vec<Vec<String>> {
    assert_eq!(content.rejects, []);
    let text = |cell: Option<String>| cell.unwrap_or("NULL".to_string());
    content.rows().into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

fn typed(name: &str, ty: Type) -> Said {
    Said { types: [(name.to_string(), ty)].into(), ..Said::default() }
}

const SEMICOLONS: &str = "n;t\n1;a, b\n-;ñ\n";

#[test]
fn compressed_csv_has_its_dialect() {
    let folder = Folder::new();
    let mut said = Said::default();
    said.dialect.formats.nulls = vec!["-".to_string()];
    let utf16: Vec<u8> =
        format!("\u{feff}{SEMICOLONS}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    for content in [SEMICOLONS.as_bytes().to_vec(), utf16] {
        for packed in [content.clone(), compress(Codec::Gzip, &content)] {
            let (table, notes) = of(folder.file("t", packed), &said).unwrap();
            assert!(notes.iter().any(|note| note.kind == NoteKind::Delimiter(b';')), "{notes:?}");
            let expected = [["1", "a, b"], ["NULL", "ñ"]];
            assert_eq!(rows(read(&table, small_chunks()).unwrap()), expected);
        }
    }
}

#[test]
fn long_compressed_text_of_any_encoding_is_all_there() {
    let folder = Folder::new();
    let lines: String = (0..50_000).map(|n| format!("{n};ñ€😀{n}\n")).collect();
    let utf16: Vec<u8> = lines.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let dialect = Dialect {
        encoding: Encoding::Utf16Le,
        delimiter: b';',
        has_header: false,
        ..Dialect::default()
    };
    let said = Said { dialect, unsaid: Unsaid::default(), ..Said::default() };
    let (table, _) = of(folder.file("t", compress(Codec::Zstd, &utf16)), &said).unwrap();
    let rows = rows(read(&table, small_chunks()).unwrap());
    assert_eq!(rows.len(), 50_000);
    assert_eq!(rows[49_999], ["49999", "ñ€😀49999"]);
}

#[test]
fn what_is_in_a_compressed_file_is_looked_at() {
    let folder = Folder::new();
    let database = compress(Codec::Gzip, b"SQLite format 3\0 and more");
    let error = of(folder.file("t", database), &Said::default()).unwrap_err();
    assert_eq!(error.code(), codes::NOT_CSV, "{error}");
}

#[test]
fn types_of_json_can_be_said() {
    let folder = Folder::new();
    let file = folder.file("t.json", "{\"a\":1,\"b\":2}\n{\"a\":7.50,\"b\":true}\n");
    let (table, _) = of(file.clone(), &typed("a", Type::Text)).unwrap();
    assert_eq!(rows(read(&table, small_chunks()).unwrap()), [["1", "2"], ["7.50", "true"]]);
    let (table, _) = of(file.clone(), &typed("b", Type::Int64)).unwrap();
    assert_eq!(read(&table, small_chunks()).unwrap().rejects.len(), 1);
    // Later objects may have it.
    let (_, notes) = of(file.clone(), &typed("c", Type::Text)).unwrap();
    assert!(matches!(&notes[..], [Note { kind: NoteKind::NotSeen { .. }, .. }]), "{notes:?}");
    let file =
        folder.file("d.json", "{\"d\":\"2024-02-29\"}\n{\"d\":\"2023-02-29\"}\n{\"d\":null}\n");
    let (table, _) = of(file, &typed("d", Type::Date)).unwrap();
    let content = read(&table, small_chunks()).unwrap();
    assert_eq!(content.reject_lines(), ["d.json:2 d: `\"2023-02-29\"` is not a valid Date32"]);
    assert_eq!(content.rows(), [[Some("2024-02-29".to_string())], [None]]);
}

#[test]
fn what_means_nothing_is_refused() {
    let folder = Folder::new();
    let batch = formats::all_types(3);
    let mut no_header = Said::default();
    no_header.dialect.has_header = false;
    for (name, bytes) in write::all(&batch, 10) {
        let file = folder.file("t", bytes);
        let error = of(file.clone(), &no_header).unwrap_err();
        assert_eq!(error.code(), codes::BAD_DIALECT, "{name}");
        let table = of(file.clone(), &Said::default()).unwrap().0;
        if table.format().unwrap() != "JSON" {
            let error = of(file, &typed("i64", Type::Text)).unwrap_err();
            assert_eq!(error.code(), codes::BAD_DIALECT, "{name}");
        }
    }
}

#[test]
fn rows_of_json_can_be_judged_by_all_columns() {
    let folder = Folder::new();
    let good = "{\"a\":1,\"b\":2}\n".repeat(10);
    let rest = "{\"a\":3,\"b\":\"x\"}\n";
    // What is beyond the sample does not change the guess.
    let table = of(folder.file("t", good + rest), &typed("b", Type::Int64)).unwrap().0;
    for (judge_all_columns, expected) in [(false, 11), (true, 10)] {
        let position = Some("_row".to_string());
        let options = Options { judge_all_columns, position, ..small_chunks() };
        let content = read_source(table.open(vec![0], options).unwrap().as_ref()).unwrap();
        assert_eq!(content.batch.num_rows(), expected);
        assert_eq!(content.batch.num_columns(), 2);
        assert_eq!(content.rejects.len(), 11 - expected);
    }
}

#[test]
fn what_is_lost_is_bounded_in_every_format() {
    let folder = Folder::new();
    for content in ["a\n1\n2,3\n4\n", "{\"a\":1}\n[\n{\"a\":4}\n"] {
        let table = guessed(&[folder.file("t", content)]).unwrap();
        let open = |percent| {
            let options = Options { rejected_percent_max: percent, ..small_chunks() };
            table.open(vec![0], options).unwrap()
        };
        assert_eq!(open(Some(10.0)).check_loss(2, 1).unwrap_err().code(), codes::TOO_MUCH_REJECTED);
        open(Some(50.0)).check_loss(2, 1).unwrap();
        open(None).check_loss(0, 1).unwrap();
    }
}

#[test]
fn a_format_has_a_name() {
    let folder = Folder::new();
    let format =
        |content: Vec<u8>| guessed(&[folder.file("t", content)]).unwrap().format().unwrap();
    assert_eq!(format(b"a,b\n1,2\n".to_vec()), "CSV");
    assert_eq!(format(compress(Codec::Xz, b"{\"a\":1}\n")), "JSON, xz");
}
