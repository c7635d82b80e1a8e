//! Tables whose columns are said, in files of every format.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, Int32Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampSecondArray,
};
use arrow::datatypes::DataType;
use caudal_core::{Code, Coded, codes};
use caudal_csv::{At, Column, Dialect, NoteKind, Type};
use caudal_source::{Codec, Error, Options, Table};

use crate::common::{Content, Folder, Row, compress, read, read_source, small_chunks};
use crate::write;

fn column(name: &str, header: &str, ty: Type) -> Column {
    Column { name: name.to_string(), at: At::Header(header.to_string()), ty }
}

fn spec(files: Vec<PathBuf>, columns: Vec<Column>) -> caudal_csv::Table {
    caudal_csv::Table {
        name: "t".into(),
        files,
        columns,
        fields: None,
        dialect: Dialect::default(),
    }
}

fn declared(file: PathBuf, columns: Vec<Column>) -> Result<Table, Error> {
    Ok(Table::declared(spec(vec![file], columns))?.0)
}

fn money() -> Type {
    Type::Decimal { precision: 10, scale: 2 }
}

/// Columns in another order than files have them, one under another name, and not all.
fn columns() -> Vec<Column> {
    vec![
        column("at", "at", Type::Timestamp),
        column("name", "Its Name", Type::Text),
        column("id", "id", Type::Int64),
        column("price", "price", money()),
        column("day", "day", Type::Date),
    ]
}

fn batch() -> RecordBatch {
    let micros = vec![Some(1_709_251_199_250_000), None, Some(0)];
    RecordBatch::try_from_iter([
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef),
        ("not said", Arc::new(Int32Array::from(vec![7, 8, 9])) as ArrayRef),
        ("Its Name", Arc::new(StringArray::from(vec![Some("pen"), Some("ink"), None])) as ArrayRef),
        ("price", decimals(vec![Some(990), None, Some(-5)], 8, 2)),
        ("day", Arc::new(Date32Array::from(vec![Some(0), Some(-1), None])) as ArrayRef),
        ("at", Arc::new(TimestampMicrosecondArray::from(micros)) as ArrayRef),
    ])
    .unwrap()
}

fn decimals(values: Vec<Option<i128>>, precision: u8, scale: i8) -> ArrayRef {
    let array = Decimal128Array::from(values);
    Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
}

fn expected() -> Vec<Row> {
    let row =
        |cells: [&str; 5]| cells.map(|cell| (!cell.is_empty()).then(|| cell.to_string())).to_vec();
    vec![
        row(["2024-02-29T23:59:59.250", "pen", "1", "9.90", "1970-01-01"]),
        row(["", "ink", "2", "", "1969-12-31"]),
        row(["1970-01-01T00:00:00", "", "3", "-0.05", ""]),
    ]
}

const CSV: &str = "\
id,not said,Its Name,price,day,at
1,7,pen,9.90,1970-01-01,2024-02-29 23:59:59.250
2,8,ink,,1969-12-31,
3,9,,-0.05,,1970-01-01 00:00:00
";

const JSON: &str = r#"
{"id":1,"not said":7,"Its Name":"pen","price":9.90,"day":"1970-01-01","at":"2024-02-29 23:59:59.250"}
{"id":2,"not said":8,"Its Name":"ink","price":null,"day":"1969-12-31"}
{"price":-0.05,"id":3,"not said":9,"at":"1970-01-01T00:00:00"}
"#;

fn all() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = write::all(&batch(), 2).into_iter().collect();
    for (name, text) in [("csv", CSV), ("json", JSON)] {
        all.push((name.to_string(), text.into()));
        all.push((format!("{name}, gzip"), compress(Codec::Gzip, text.as_bytes())));
    }
    all
}

fn check_types(content: &Content) {
    let types: Vec<DataType> =
        content.batch.columns().iter().map(|column| column.data_type().clone()).collect();
    let said: Vec<DataType> = columns().iter().map(|column| column.ty.data_type()).collect();
    assert_eq!(types, said);
}

#[test]
fn a_table_is_the_same_in_every_format() {
    let folder = Folder::new();
    for (name, bytes) in all() {
        let table = declared(folder.file("t", bytes), columns()).unwrap();
        let content = read(&table, small_chunks()).unwrap();
        check_types(&content);
        assert_eq!((content.rows(), content.rejects.len()), (expected(), 0), "{name}");
    }
}

#[test]
fn some_columns_and_their_rows_places() {
    let folder = Folder::new();
    for (name, bytes) in all() {
        let table = declared(folder.file("t", bytes), columns()).unwrap();
        let options = Options { position: Some("_row".to_string()), ..small_chunks() };
        let source = table.open(vec![3, 1], options).unwrap();
        let content = read_source(source.as_ref()).unwrap();
        let expected: Vec<_> =
            expected().iter().map(|row| [row[3].clone(), row[1].clone()]).collect();
        let rows: Vec<_> =
            content.rows().into_iter().map(|row| [row[0].clone(), row[1].clone()]).collect();
        assert_eq!(rows, expected, "{name}");
        assert_eq!(content.batch.schema().field(2).name(), "_row", "{name}");
        // None of them: how many rows there are.
        let source = table.open(vec![], Options::default()).unwrap();
        assert_eq!(read_source(source.as_ref()).unwrap().batch.num_rows(), 3, "{name}");
    }
}

#[test]
fn a_column_of_the_file_may_be_two_and_have_a_place() {
    let folder = Folder::new();
    let at =
        |name: &str, index| Column { name: name.into(), at: At::Index(index), ty: Type::Int64 };
    let columns = vec![at("a", 0), column("b", "id", Type::Float64), at("c", 1)];
    for bytes in [write::parquet(&batch(), 10), write::ipc_stream(&batch(), 10), CSV.into()] {
        let table = declared(folder.file("t", bytes), columns.clone()).unwrap();
        let rows = read(&table, small_chunks()).unwrap().rows();
        let texts = |row: &Row| row.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(texts(&rows[1]), "2 2.0 8");
    }
}

#[test]
fn files_that_say_their_columns_need_no_others() {
    let folder = Folder::new();
    for (name, bytes) in all() {
        let is_own = !name.contains("csv") && !name.contains("json");
        let table = declared(folder.file("t", bytes), vec![]);
        match is_own {
            true => assert_eq!(table.unwrap().schema().fields().len(), 6, "{name}"),
            false => assert_eq!(table.unwrap_err().code(), codes::COLUMNS_NOT_SAID, "{name}"),
        }
    }
}

fn refused(bytes: impl AsRef<[u8]>, columns: Vec<Column>) -> (Code, String) {
    let folder = Folder::new();
    let error = declared(folder.file("t", bytes), columns).unwrap_err();
    let shown = error.to_string().replace(&folder.0.path().display().to_string(), "");
    (error.code(), shown)
}

#[test]
fn another_type_is_refused_unless_it_is_wider() {
    let parquet = write::parquet(&batch(), 10);
    let narrow = Type::Decimal { precision: 8, scale: 1 };
    for (name, ty, shown) in [
        ("id", Type::Text, "of type Int32, and said to be text"),
        ("id", Type::Boolean, "of type Int32, and said to be bool"),
        ("price", narrow, "of type Decimal128(8, 2), and said to be decimal(8,1)"),
        ("price", Type::Float64, "of type Decimal128(8, 2), and said to be float"),
        ("at", Type::Date, "of type Timestamp(µs), and said to be date"),
        ("Its Name", Type::Int64, "of type Utf8View, and said to be int"),
    ] {
        let (code, told) = refused(&parquet, vec![column("x", name, ty)]);
        assert_eq!(code, codes::COLUMN_OF_OTHER_TYPE);
        assert_eq!(told, format!("/t: column `x` of table `t` is {shown}"));
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let typo = || vec![column("id", "id", Type::Int64), column("x", "prize", Type::Int64)];
    for (name, bytes) in all() {
        let folder = Folder::new();
        let table = declared(folder.file("t", bytes), typo());
        // A header of CSV is read when its table is.
        let error = table.and_then(|table| table.open(vec![1], Options::default()).map(drop));
        let error = match error {
            Err(error) => error,
            Ok(()) => read(&declared(folder.0.path().join("t"), typo()).unwrap(), small_chunks())
                .unwrap_err(),
        };
        assert_eq!(error.code(), codes::COLUMN_NOT_IN_HEADER, "{name}");
        assert!(error.to_string().contains("prize"), "{name}: {error}");
    }
    let beyond = Column { name: "x".into(), at: At::Index(6), ty: Type::Int64 };
    let parquet = write::parquet(&batch(), 10);
    assert_eq!(refused(&parquet, vec![beyond.clone()]).0, codes::COLUMN_BEYOND_FIELDS);
    assert_eq!(refused(JSON, vec![beyond]).0, codes::BAD_DIALECT);
    let twice = vec![column("a", "id", Type::Int64), column("b", "id", Type::Int64)];
    assert_eq!(refused(JSON, twice).0, codes::BAD_DIALECT);
    let mut spec = spec(vec![], columns());
    let folder = Folder::new();
    spec.files = vec![folder.file("t", &parquet)];
    spec.dialect.has_header = false;
    assert_eq!(Table::declared(spec).unwrap_err().code(), codes::BAD_DIALECT);
}

#[test]
fn a_value_beyond_the_type_is_an_error() {
    let beyond: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, i64::MAX]));
    let batch = RecordBatch::try_from_iter([("at", beyond)]).unwrap();
    let folder = Folder::new();
    let file = folder.file("t", write::ipc_file(&batch, 10));
    let table = declared(file, vec![column("at", "at", Type::Timestamp)]).unwrap();
    let error = read(&table, small_chunks()).unwrap_err();
    assert_eq!(error.code(), codes::COLUMN_OF_OTHER_TYPE, "{error}");
}

#[test]
fn names_of_json_may_come_late() {
    let folder = Folder::new();
    let many = "{\"id\":1,\"text\":\"some text that takes room\"}\n".repeat(500_000);
    let file = folder.file("t", many + "{\"id\":2,\"late\":\"2024-02-29\"}\n{\"id\":1.5}\n");
    let columns = vec![column("n", "id", Type::Int64), column("late", "late", Type::Date)];
    let (table, notes) = Table::declared(spec(vec![file], columns)).unwrap();
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!(note.kind, NoteKind::NamesNotSeen(vec!["late".to_string()]));
    let content = read(&table, Options::default()).unwrap();
    assert_eq!(content.batch.num_rows(), 500_001);
    assert_eq!(content.rows()[500_000][1].as_deref(), Some("2024-02-29"));
    assert_eq!(content.reject_lines(), ["t:500002 n: `1.5` is not a valid Int64"]);
}
