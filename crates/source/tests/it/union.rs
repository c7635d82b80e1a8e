//! Files of one table that have other columns.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType;
use caudal_core::{Coded, codes};
use caudal_csv::NoteKind;
use caudal_source::{Codec, Options, Said, Table};

use crate::common::{Folder, compress, read_source, small_chunks};
use crate::write;

fn batches() -> [RecordBatch; 3] {
    let int = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let text = |value: &str| Arc::new(StringArray::from(vec![value])) as ArrayRef;
    let float = |value: f64| Arc::new(Float64Array::from(vec![value])) as ArrayRef;
    [
        RecordBatch::try_from_iter([("a", int(&[1, 2])), ("b", int(&[3, 4]))]).unwrap(),
        RecordBatch::try_from_iter([("c", text("x")), ("b", int(&[5]))]).unwrap(),
        RecordBatch::try_from_iter([("d", float(0.5)), ("c", text("y")), ("a", int(&[6]))])
            .unwrap(),
    ]
}

/// A batch as a file.
type Write = fn(&RecordBatch) -> Vec<u8>;

const FORMATS: [(&str, Write); 6] = [
    ("csv", csv),
    ("csv.zst", |batch| compress(Codec::Zstd, &csv(batch))),
    ("json", write::json_lines),
    ("parquet", |batch| write::parquet(batch, 1)),
    ("arrow file", |batch| write::ipc_file(batch, 1)),
    ("arrow stream", |batch| write::ipc_stream(batch, 1)),
];

fn csv(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow::csv::Writer::new(vec![]);
    writer.write(batch).unwrap();
    writer.into_inner()
}

fn files(folder: &Folder, write: Write) -> Vec<PathBuf> {
    let batches = batches();
    let file = |(at, batch)| folder.file(&at_name(at), write(batch));
    batches.iter().enumerate().map(file).collect()
}

fn at_name(at: usize) -> String {
    format!("file_{at}")
}

fn union() -> Said {
    Said { union_by_name: true, ..Said::default() }
}

#[test]
fn columns_of_all_files_are_null_where_there_are_none() {
    let expected = "1 3 - -|2 4 - -|- 5 x -|6 - y 0.5";
    for (name, write) in FORMATS {
        let folder = Folder::new();
        let (table, notes) = Table::of("t", &files(&folder, write), &union()).unwrap();
        assert_eq!(notes, [], "{name}");
        let schema = table.schema();
        let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(columns, ["a", "b", "c", "d"], "{name}");
        assert_eq!(schema.field(3).data_type(), &DataType::Float64);
        let shown = |needed: &[usize], options: Options| {
            let source = table.open(needed.to_vec(), options).unwrap();
            let rows = read_source(source.as_ref()).unwrap().rows();
            let value = |value: Option<String>| value.unwrap_or("-".to_string());
            let row =
                |row: Vec<Option<String>>| row.into_iter().map(value).collect::<Vec<_>>().join(" ");
            rows.into_iter().map(row).collect::<Vec<_>>().join("|")
        };
        for judge_all_columns in [false, true] {
            let options = || Options { judge_all_columns, ..small_chunks() };
            assert_eq!(shown(&[0, 1, 2, 3], options()), expected, "{name}");
            assert_eq!(shown(&[3, 0], options()), "- 1|- 2|- -|0.5 6", "{name}");
            assert_eq!(shown(&[3], options()), "-|-|-|0.5", "{name}");
            let position = Options { position: Some("_row".into()), ..options() };
            let places = shown(&[3], position);
            let places: Vec<u64> = places
                .split('|')
                .map(|row| row.split(' ').nth(1).unwrap().parse().unwrap())
                .collect();
            assert!(places.is_sorted_by(|one, other| one < other), "{name} {places:?}");
        }
    }
}

#[test]
fn without_it_missing_columns_are_an_error_and_others_are_told() {
    for (name, write) in FORMATS {
        let folder = Folder::new();
        let files = files(&folder, write);
        let lacking = Table::of("t", &files, &Said::default());
        match name {
            // An object need not have all names.
            "json" => assert_eq!(lacking.unwrap().0.schema().fields().len(), 4),
            // It is one of those who ask for the column.
            "csv" | "csv.zst" => {
                let (table, notes) = lacking.unwrap();
                // Two of each of the others, and which file says what there is.
                assert_eq!(notes.len(), 5, "{notes:?}");
                let source = table.open(vec![0], small_chunks());
                let error = source.and_then(|source| read_source(source.as_ref())).unwrap_err();
                assert_eq!(error.code(), codes::COLUMN_NOT_IN_HEADER);
            }
            _ => assert_eq!(lacking.unwrap_err().code(), codes::FILES_DIFFER, "{name}"),
        }
        if name == "json" {
            continue;
        }
        let more = folder.file("more", write(&batches()[2]));
        let less = batches()[2].project(&[1, 2]).unwrap();
        let first = folder.file("first", write(&less));
        let (_, notes) = Table::of("t", &[first, more], &Said::default()).unwrap();
        assert_eq!(notes[0].kind, NoteKind::ExtraColumns(vec!["d".to_string()]), "{name}");
    }
}

#[test]
fn types_have_to_agree_all_the_same() {
    let folder = Folder::new();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let other = RecordBatch::try_from_iter([("a", text)]).unwrap();
    for (_, write) in &FORMATS[3..] {
        let mut files = files(&folder, *write);
        files.push(folder.file("other", write(&other)));
        let error = Table::of("t", &files, &union()).unwrap_err();
        assert_eq!(error.code(), codes::FILES_DIFFER);
        assert!(error.to_string().contains("column `a`"), "{error}");
    }
}
