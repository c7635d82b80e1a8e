//! Folders like `year=2024` as columns.

use std::fs;
use std::path::PathBuf;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use caudal_core::{Coded, codes};
use caudal_csv::{NoteKind, Type};
use caudal_source::{Codec, Error, Options, Said, Table, files_in};

use crate::common::{Content, Folder, compress, read_source, small_chunks};
use crate::write;

fn file(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.0.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn said(hive_partitioning: Option<bool>) -> Said {
    Said { hive_partitioning, ..Said::default() }
}

fn all(table: &Table) -> Content {
    let needed = (0..table.schema().fields().len()).collect();
    let options = Options { position: Some("_row".into()), ..small_chunks() };
    read_source(table.open(needed, options).unwrap().as_ref()).unwrap()
}

fn numbers(from: i64, to: i64) -> RecordBatch {
    let numbers: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(from..to));
    RecordBatch::try_from_iter([("n", numbers)]).unwrap()
}

/// A batch as a file.
type Write = fn(&RecordBatch) -> Vec<u8>;

const FORMATS: [(&str, Write); 6] = [
    ("csv", csv),
    ("csv.gz", |batch| compress(Codec::Gzip, &csv(batch))),
    ("json", write::json_lines),
    ("parquet", |batch| write::parquet(batch, 700)),
    ("arrow file", |batch| write::ipc_file(batch, 700)),
    ("arrow stream", |batch| write::ipc_stream(batch, 700)),
];

fn csv(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow::csv::Writer::new(vec![]);
    writer.write(batch).unwrap();
    writer.into_inner()
}

#[test]
fn folders_are_columns_of_every_format() {
    for (name, write) in FORMATS {
        let folder = Folder::new();
        file(&folder, "day=2024-01-31/k=a%2Fb/0", write(&numbers(0, 1000)));
        file(&folder, "day=2024-02-01/k=__HIVE_DEFAULT_PARTITION__/0", write(&numbers(1000, 1001)));
        file(&folder, "day=2024-02-01/k=z/0", write(&numbers(1001, 3000)));
        let files = files_in(folder.0.path()).unwrap();
        let (table, notes) = Table::of("t", &files, &said(None)).unwrap();
        let columns = ["day (date)", "k (text)"].map(String::from).to_vec();
        assert_eq!(notes.last().unwrap().kind, NoteKind::FolderColumns(columns), "{name}");
        let schema = table.schema();
        let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(types, [DataType::Int64, DataType::Date32, DataType::Utf8View], "{name}");
        let rows = all(&table).rows();
        assert_eq!(rows.len(), 3000);
        for row in &rows {
            let n: i64 = row[0].as_ref().unwrap().parse().unwrap();
            let (day, k) = match n {
                0..1000 => ("2024-01-31", Some("a/b")),
                1000 => ("2024-02-01", None),
                _ => ("2024-02-01", Some("z")),
            };
            assert_eq!((row[1].as_deref(), row[2].as_deref()), (Some(day), k), "{name} {n}");
        }
        // In another order, and alone.
        for needed in [vec![2, 0], vec![1], vec![0], vec![]] {
            let source = table.open(needed.clone(), small_chunks()).unwrap();
            let content = read_source(source.as_ref()).unwrap();
            assert_eq!(content.batch.num_rows(), 3000, "{name} {needed:?}");
            let expected: Vec<_> = rows
                .iter()
                .map(|row| needed.iter().map(|at| row[*at].clone()).collect::<Vec<_>>())
                .collect();
            assert!(content.rows() == expected, "{name} {needed:?}");
            assert_eq!(source.schema().fields().len(), needed.len());
        }
    }
}

#[test]
fn types_can_be_said_and_folders_left_out() {
    let folder = Folder::new();
    let files: Vec<_> =
        ["01", "12"].map(|month| file(&folder, &format!("month={month}/t.csv"), "n\n1\n")).to_vec();
    let of = |said: &Said| Table::of("t", &files, said).map(|(table, _)| table);
    let month = |said: &Said| {
        of(said).map(|table| {
            all(&table).rows().into_iter().map(|row| row[1].clone().unwrap()).collect::<Vec<_>>()
        })
    };
    assert_eq!(month(&said(None)).unwrap(), ["1", "12"]);
    let typed = |ty| Said { types: [("month".to_string(), ty)].into(), ..said(None) };
    assert_eq!(month(&typed(Type::Text)).unwrap(), ["01", "12"]);
    assert_eq!(month(&typed(Type::Float64)).unwrap(), ["1.0", "12.0"]);
    assert_eq!(of(&typed(Type::Date)).unwrap_err().code(), codes::BAD_DIALECT);
    assert_eq!(of(&said(Some(false))).unwrap().schema().fields().len(), 1);
    let plain = [file(&folder, "t.csv", "n\n1\n")];
    let error = Table::of("t", &plain, &said(Some(true))).unwrap_err();
    assert_eq!(error.code(), codes::BAD_DIALECT, "{error}");
    assert_eq!(Table::of("t", &plain, &said(None)).unwrap().0.schema().fields().len(), 1);
}

#[test]
fn folders_that_do_not_agree_are_an_error() {
    let folder = Folder::new();
    let a = file(&folder, "a=1/t.csv", "n\n1\n");
    for other in ["t.csv", "a=1/b=2/t.csv", "c=1/t.csv", "a=1/x/a=2/t.csv"] {
        for files in [
            [a.clone(), file(&folder, other, "n\n1\n")],
            [file(&folder, other, "n\n1\n"), a.clone()],
        ] {
            let error = Table::of("t", &files, &said(None)).unwrap_err();
            assert_eq!(error.code(), codes::FOLDERS_DIFFER, "{error}");
        }
    }
    let twice = [file(&folder, "n=1/t.csv", "n\n1\n")];
    let error: Error = Table::of("t", &twice, &said(None)).unwrap_err();
    assert_eq!(error.code(), codes::FOLDERS_DIFFER, "{error}");
    assert!(Table::of("t", &twice, &said(Some(false))).is_ok());
}
