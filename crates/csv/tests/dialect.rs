//! Records and fields of the dialect.

#![allow(clippy::unwrap_used)]

mod common;

use caudal_csv::{Options, Type};
use common::{Row, Table, row};

/// The rows of a file of two text columns, read in chunks of every small size and of one large.
fn rows_of(body: &str) -> Vec<Row> {
    let table = Table::new(format!("a,b\n{body}")).column("a", Type::Text).column("b", Type::Text);
    let content = table.read();
    assert_eq!(content.rejects, [], "{body:?}");
    for chunk_bytes in 1..40 {
        let options = Options { chunk_bytes, ..Options::default() };
        let again = Table::new(format!("a,b\n{body}"))
            .column("a", Type::Text)
            .column("b", Type::Text)
            .options(options)
            .read();
        assert_eq!(again.rows, content.rows, "{body:?} in chunks of {chunk_bytes}");
    }
    content.rows
}

/// As `list(csv.reader(io.StringIO(body, newline="")))` of Python 3.12 gives them.
#[test]
fn records_are_those_of_python() {
    for (body, expected) in [
        ("1,2\n", vec![["1", "2"]]),
        ("1,2", vec![["1", "2"]]),
        ("1,2\r\n3,4\r\n", vec![["1", "2"], ["3", "4"]]),
        ("\n1,2\n\n\r\n3,4\n\n", vec![["1", "2"], ["3", "4"]]),
        ("\"x,y\",\"2\n3\"\n", vec![["x,y", "2\n3"]]),
        ("\"x\r\ny\",2\r\n", vec![["x\r\ny", "2"]]),
        ("\"say \"\"hi\"\"\",\"\"\"\"\n", vec![["say \"hi\"", "\""]]),
        ("5\" disk,6\"\n", vec![["5\" disk", "6\""]]),
        ("\"abc\"def,\"g\" \n", vec![["abcdef", "g "]]),
        ("\"abc\"d\"e\"\"f,2\n", vec![["abcd\"e\"\"f", "2"]]),
        (" \"a,b\"\n", vec![[" \"a", "b\""]]),
        ("a\"\",\"b,\"\n", vec![["a\"\"", "b,"]]),
        (",\n", vec![["", ""]]),
        ("\"\",\"\"\n", vec![["", ""]]),
        ("a ,\tb\n", vec![["a ", "\tb"]]),
        ("ñandú,\"日本,語\"\n", vec![["ñandú", "日本,語"]]),
        ("a,\"b\"\r\nc,\"d\"\r\n", vec![["a", "b"], ["c", "d"]]),
    ] {
        let expected: Vec<Row> = expected.into_iter().map(row).collect();
        assert_eq!(rows_of(body), expected, "{body:?}");
    }
}

#[test]
fn a_cr_ends_a_line_only_before_lf() {
    assert_eq!(rows_of("a\rb,c\n"), [row(["a\rb", "c"])]);
    assert_eq!(rows_of("a,b\r\r\n"), [row(["a", "b\r"])]);
    assert_eq!(rows_of("a,\"b\r\"\n"), [row(["a", "b\r"])]);
    // The file was cut within its last CRLF.
    assert_eq!(rows_of("a,b\r"), [row(["a", "b"])]);
}

#[test]
fn long_and_short_text_in_place_and_unescaped() {
    let long = "x".repeat(1000);
    let quoted = format!("\"{long}\"\"{long}\"");
    let rows = rows_of(&format!("{long},s\ns,{quoted}\n\"{long}\",\"a\"\"b\"\n"));
    assert_eq!(
        rows,
        [row([&long, "s"]), row(["s", &format!("{long}\"{long}")]), row([&long, "a\"b"])]
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_name() {
    let content = Table::new("\u{feff}a,b\n1,2\n").column("a", Type::Int64).read();
    assert_eq!(content.rows, [row(["1"])]);
}

#[test]
fn blank_lines_of_a_one_column_table_are_no_rows() {
    let content = Table::new("a\n1\n\n\r\n\"\"\n2\n").column("a", Type::Text).read();
    assert_eq!(content.rows, [row(["1"]), row([""]), row(["2"])]);
}

#[test]
fn a_record_may_be_much_longer_than_a_chunk() {
    let long = "y\n,".repeat(3_000_000);
    let options = Options { chunk_bytes: 1000, ..Options::default() };
    let content = Table::new(format!("a,b\n1,2\n\"{long}\",3\n4,5\n"))
        .column("a", Type::Text)
        .column("b", Type::Int64)
        .options(options)
        .read();
    assert_eq!(content.rows, [row(["1", "2"]), row([&long, "3"]), row(["4", "5"])]);
}
