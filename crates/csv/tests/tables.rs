//! Types, projections, files and positions.

#![allow(clippy::unwrap_used)]

mod common;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, TimeUnit, UInt64Type};
use caudal_csv::{At, Column, Options, Reader, Type};
use common::{Table, read_all, row};

#[test]
fn every_type_with_spaces_quotes_and_nulls() {
    let table = Table::new(
        "x,i,f,b,m,d,t\n\
         one,1,1.5,true,2.50,2024-02-29,2024-02-29 01:02:03\n\
         \"two\", -2 ,\"2e3\",\"No\",\" 7 \", 1970-01-01,\"1970-01-01T00:00:00.25\"\n\
         ,, ,\"\",  ,\" \",\r\n",
    )
    .column("x", Type::Text)
    .column("i", Type::Int64)
    .column("f", Type::Float64)
    .column("b", Type::Boolean)
    .column("m", Type::Decimal { precision: 10, scale: 2 })
    .column("d", Type::Date)
    .column("t", Type::Timestamp);
    let content = table.read();
    assert_eq!(content.rejects, []);
    assert_eq!(
        content.rows,
        [
            row(["one", "1", "1.5", "true", "2.50", "2024-02-29", "2024-02-29T01:02:03"]),
            row(["two", "-2", "2000.0", "false", "7.00", "1970-01-01", "1970-01-01T00:00:00.250"]),
            row(["", "", "", "", "", "", ""]),
        ]
    );
    let schema = table.open().unwrap().schema();
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(
        types,
        [
            DataType::Utf8View,
            DataType::Int64,
            DataType::Float64,
            DataType::Boolean,
            DataType::Decimal128(10, 2),
            DataType::Date32,
            DataType::Timestamp(TimeUnit::Microsecond, None),
        ]
    );
    assert!(schema.fields().iter().all(|field| field.is_nullable()));
}

#[test]
fn text_points_into_the_chunk() {
    let long = "a text that is too long for a view";
    let table = Table::new(format!("a,b\n\"{long}\",short\n{long},\n"))
        .column("a", Type::Text)
        .column("b", Type::Text);
    let parsed = read_all(&table.open().unwrap(), 1).unwrap();
    let texts = parsed[0].batch.column(0).as_string_view();
    assert_eq!(texts.data_buffers().len(), 1);
    assert_eq!(
        texts.data_buffers()[0].as_slice(),
        format!("\"{long}\",short\n{long},\n").as_bytes()
    );
    let shorts = parsed[0].batch.column(1).as_string_view();
    assert_eq!(shorts.data_buffers().len(), 0, "nothing keeps the chunk alive");
    texts.to_data().validate_full().unwrap();
}

#[test]
fn columns_are_projected_in_any_order() {
    let table = Table::new("a,b,c\n1,2,3\n")
        .column("a", Type::Int64)
        .column("b", Type::Int64)
        .column("c", Type::Int64);
    let reader = Reader::open(table.spec.clone(), vec![2, 0], Options::default()).unwrap();
    let parsed = read_all(&reader, 1).unwrap();
    assert_eq!(parsed[0].batch.schema(), reader.schema());
    assert_eq!(reader.schema().field(0).name(), "c");
    assert_eq!(parsed[0].batch.num_columns(), 2);
}

#[test]
fn a_value_that_is_not_read_is_not_checked() {
    let content = Table::new("a,b\n1,x\n").column("a", Type::Int64).read();
    assert_eq!((content.rows.len(), content.rejects.len()), (1, 0));
}

#[test]
fn an_empty_projection_counts_rows() {
    let table = Table::new("a,b\n1,2\n3,4\nbroken\n");
    let parsed = read_all(&table.open().unwrap(), 1).unwrap();
    assert_eq!((parsed[0].batch.num_rows(), parsed[0].batch.num_columns()), (2, 0));
    assert_eq!(parsed[0].rejects.len(), 1);
}

#[test]
fn files_may_order_their_columns_differently() {
    let content = Table::new("a,b\n1,x\n")
        .file("b,z,a\ny,,2")
        .file("a,b\n")
        .column("a", Type::Int64)
        .column("b", Type::Text)
        .read();
    assert_eq!(content.rows, [row(["1", "x"]), row(["2", "y"])]);
}

#[test]
fn a_header_that_lies_is_read_by_index() {
    let mut table = Table::new("a,bc\n1,2,3\n").column_at(2, Type::Int64);
    table.spec.fields = Some(3);
    assert_eq!(table.read().rows, [row(["3"])]);
}

#[test]
fn a_file_with_a_header_only_has_no_rows() {
    for content in ["a,b", "a,b\n", "a,b\r\n\n\n"] {
        let content = Table::new(content).column("a", Type::Int64).read();
        assert_eq!((content.rows.len(), content.rejects.len()), (0, 0));
    }
}

#[test]
fn positions_order_rows_over_chunks_and_files() {
    let options =
        Options { chunk_bytes: 8, position: Some("_position".into()), ..Options::default() };
    let table = Table::new("a\n1\n2\nx\n4\n5\n6\n")
        .file("a\n7\n")
        .column("a", Type::Int64)
        .options(options);
    let reader = table.open().unwrap();
    assert_eq!(reader.schema().field(1).name(), "_position");
    let parsed = read_all(&reader, 1).unwrap();
    let positions: Vec<u64> = parsed
        .iter()
        .flat_map(|parsed| parsed.batch.column(1).as_primitive::<UInt64Type>().values().to_vec())
        .collect();
    assert_eq!(positions, [0, 1, 3, 1 << 32, 1 << 32 | 1, 2 << 32]);
}

#[test]
fn consumed_bytes_add_up_to_the_files() {
    let options = Options { chunk_bytes: 5, ..Options::default() };
    let table = Table::new("\u{feff}a,b\r\n1,2\r\n\n3,4")
        .file("a,b\n5,6\n")
        .column("a", Type::Int64)
        .options(options);
    assert_eq!(table.read().consumed_bytes as u64, table.open().unwrap().total_bytes());
}

#[test]
fn the_same_column_may_be_read_twice() {
    let mut table = Table::new("a\n1\n").column("a", Type::Int64);
    table.spec.columns.push(Column { name: "text".into(), at: At::Index(0), ty: Type::Text });
    assert_eq!(table.read().rows, [row(["1", "1"])]);
}
