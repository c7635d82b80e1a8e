//! Batches of every type, written in every format, are read back.

use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::*;
use caudal_core::{Coded, codes};
use caudal_source::{Codec, Options};

use crate::common::{Folder, compress, guessed, read, read_files, read_source, rows, small_chunks};
use crate::write;

/// Rows of every type, with nulls in all of them.
pub fn all_types(count: usize) -> RecordBatch {
    let numbers = || (0..count as i64).map(|n| (n % 7 != 3).then_some(n));
    let texts = || numbers().map(|n| n.map(|n| format!("text number {n}, of some length")));
    let lists =
        numbers().map(|n| n.map(|n| (0..n % 4).map(move |item| (item != 2).then_some(n + item))));
    let inner: ArrayRef = Arc::new(StringArray::from_iter(texts()));
    let fields = Fields::from(vec![Field::new("s", DataType::Utf8, true)]);
    let nulls = numbers().map(|n| n.is_some()).collect();
    let dictionary: DictionaryArray<Int16Type> =
        numbers().map(|n| n.map(|n| ["red", "green", "blue"][n as usize % 3])).collect();
    let zoned = TimestampMicrosecondArray::from_iter(numbers().map(|n| n.map(|n| n * 1_000_003)));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("bool", Arc::new(BooleanArray::from_iter(numbers().map(|n| n.map(|n| n % 2 == 0))))),
        ("i8", Arc::new(Int8Array::from_iter(numbers().map(|n| n.map(|n| n as i8))))),
        (
            "u64",
            Arc::new(UInt64Array::from_iter(numbers().map(|n| n.map(|n| u64::MAX - n as u64)))),
        ),
        ("i64", Arc::new(Int64Array::from_iter(numbers()))),
        ("f32", Arc::new(Float32Array::from_iter(numbers().map(|n| n.map(|n| n as f32 / 8.0))))),
        ("f64", Arc::new(Float64Array::from_iter(numbers().map(|n| n.map(|n| n as f64 / 3.0))))),
        ("text", Arc::new(StringArray::from_iter(texts()))),
        ("large", Arc::new(LargeStringArray::from_iter(texts()))),
        ("view", Arc::new(StringViewArray::from_iter(texts()))),
        ("bytes", Arc::new(BinaryArray::from_iter(texts()))),
        ("dict", Arc::new(dictionary)),
        ("date", Arc::new(Date32Array::from_iter(numbers().map(|n| n.map(|n| n as i32 * 11))))),
        ("time", Arc::new(Time64MicrosecondArray::from_iter(numbers()))),
        ("zoned", Arc::new(zoned.with_timezone("+01:00"))),
        ("ns", Arc::new(TimestampNanosecondArray::from_iter(numbers()))),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from_iter(numbers().map(|n| n.map(i128::from)))
                    .with_precision_and_scale(20, 3)
                    .unwrap(),
            ),
        ),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists))),
        ("struct", Arc::new(StructArray::new(fields, vec![inner], Some(nulls)))),
    ];
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

#[test]
fn what_is_written_is_read() {
    let folder = Folder::new();
    for count in [0, 1, 100, 5000] {
        let batch = all_types(count);
        for (name, bytes) in write::all(&batch, 1000) {
            let file = folder.file("t", &bytes);
            let content = read_files(std::slice::from_ref(&file)).unwrap();
            assert!(rows(&batch) == content.rows(), "{name} of {count} rows");
            assert!(content.rejects.is_empty());
        }
    }
}

#[test]
fn any_columns_in_any_order_and_their_positions() {
    let folder = Folder::new();
    let batch = all_types(3000);
    for (name, bytes) in write::all(&batch, 700) {
        let table = guessed(&[folder.file("t", bytes)]).unwrap();
        for needed in [vec![], vec![10], vec![17, 3, 6], vec![17, 0]] {
            let options = Options { position: Some("_row".into()), ..small_chunks() };
            let source = table.open(needed.clone(), options).unwrap();
            let content = read_source(source.as_ref()).unwrap();
            let expected = rows(&batch.project(&needed).unwrap());
            let mut found = content.rows();
            let places: Vec<u64> =
                found.iter_mut().map(|row| row.pop().unwrap().unwrap().parse().unwrap()).collect();
            assert!(found == expected, "{name} {needed:?}");
            assert!(places.is_sorted_by(|one, other| one < other), "{name}");
            let total = source.total_bytes().unwrap();
            assert!(
                content.bytes as u64 <= total && (needed.is_empty() || content.bytes > 0),
                "{name}: {} of {total}",
                content.bytes
            );
            let again = read_source(source.again().unwrap().as_ref()).unwrap();
            assert_eq!((again.batch, again.chunks), (content.batch, content.chunks), "{name}");
        }
    }
}

#[test]
fn large_batches_are_many_chunks() {
    let folder = Folder::new();
    let texts: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::from_iter(
        (0..200_000)
            .map(|n| [Some("x".repeat(300)), Some("y".repeat(200))][n % 2].clone())
            .collect::<Vec<_>>()
            .iter()
            .map(|s| s.as_deref()),
    ));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    for (name, bytes) in write::all(&batch, 1_000_000) {
        let table = guessed(&[folder.file("t", bytes)]).unwrap();
        let options = Options { chunk_bytes: 1 << 20, ..Options::default() };
        let content = read(&table, options).unwrap();
        assert_eq!(content.batch.num_rows(), 200_000);
        assert!(content.chunks.len() > 10, "{name}: {} chunks", content.chunks.len());
    }
}

#[test]
fn files_have_their_columns_by_name_and_their_types_in_common() {
    let folder = Folder::new();
    let a: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let b: ArrayRef = Arc::new(Int64Array::from(vec![1 << 40]));
    let text = |t: &str| Arc::new(StringArray::from(vec![t])) as ArrayRef;
    let one = RecordBatch::try_from_iter([
        ("n", a.clone()),
        ("t", Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef),
    ])
    .unwrap();
    let two =
        RecordBatch::try_from_iter([("t", text("z")), ("more", text("m")), ("n", b)]).unwrap();
    let lacks = RecordBatch::try_from_iter([("n", a)]).unwrap();
    let other = RecordBatch::try_from_iter([("n", text("1")), ("t", text("z"))]).unwrap();
    for writer in [write::parquet, write::ipc_file, write::ipc_stream] {
        let file = |name, batch: &RecordBatch| folder.file(name, writer(batch, 10));
        let (one, two) = (file("1", &one), file("2", &two));
        let read = read_files(&[one.clone(), two]).unwrap();
        assert_eq!(read.batch.schema().field(0).data_type(), &DataType::Int64);
        let rows: Vec<String> = read.rows().into_iter().map(|row| format!("{row:?}")).collect();
        assert_eq!(rows.len(), 3);
        assert!(rows[2].contains("1099511627776") && rows[2].contains('z'), "{rows:?}");
        for wrong in [file("3", &lacks), file("4", &other)] {
            assert_eq!(read_files(&[one.clone(), wrong]).unwrap_err().code(), codes::FILES_DIFFER);
        }
        let csv = folder.file("5", "n,t\n1,x\n");
        assert_eq!(read_files(&[one, csv]).unwrap_err().code(), codes::FILES_DIFFER);
    }
}

#[test]
fn what_needs_a_file_says_so() {
    let folder = Folder::new();
    let batch = all_types(10);
    for bytes in [write::parquet(&batch, 10), write::ipc_file(&batch, 10)] {
        let file = folder.file("t.gz", compress(Codec::Gzip, &bytes));
        assert_eq!(guessed(&[file]).unwrap_err().code(), codes::NOT_A_FILE);
    }
    let stream = compress(Codec::Zstd, &write::ipc_stream(&batch, 10));
    let content = read_files(&[folder.file("t.zst", stream)]).unwrap();
    assert!(content.rows() == rows(&batch));
}

#[test]
fn columns_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let n: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let twice = RecordBatch::try_from_iter([("n", n.clone()), ("n", n)]).unwrap();
    let error = guessed(&[folder.file("t", write::ipc_file(&twice, 10))]).unwrap_err();
    assert_eq!(error.code(), codes::COLUMN_NOT_TAKEN, "{error}");
    let empty = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let error = guessed(&[folder.file("t", write::ipc_file(&empty, 10))]).unwrap_err();
    assert_eq!(error.code(), codes::NO_TABLE_IN_FILE, "{error}");
}

#[test]
fn maps_are_lists_of_pairs() {
    let folder = Folder::new();
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    maps.keys().append_value("one");
    maps.values().append_value(1);
    maps.keys().append_value("none");
    maps.values().append_null();
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    let maps: ArrayRef = Arc::new(maps.finish());
    let batch = RecordBatch::try_from_iter_with_nullable([("m", maps, true)]).unwrap();
    for (name, bytes) in write::all(&batch, 10) {
        let content = read_files(&[folder.file("t", bytes)]).unwrap();
        let pairs = "[{keys: one, values: 1}, {keys: none, values: }]";
        assert_eq!(content.rows(), [[Some(pairs.to_string())], [None]], "{name}");
    }
}
