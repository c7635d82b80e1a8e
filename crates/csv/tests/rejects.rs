//! Rows that do not fit are never lost in silence.

#![allow(clippy::unwrap_used)]

mod common;

use caudal_core::Coded;
use caudal_csv::{Options, RejectReason, Type};
use common::{Table, row};

fn two_columns(body: impl AsRef<[u8]>) -> Table {
    let content = [b"id,text\n", body.as_ref()].concat();
    Table::new(content).column("id", Type::Int64).column("text", Type::Text)
}

#[test]
fn each_reason_with_its_line_and_column() {
    let content = two_columns(
        b"1,a\n\
          2\n\
          x,\"b\nc\"\n\
          3,d\xff\n\
          4,e,f\n\
          \n\
          5,g\n",
    )
    .read();
    assert_eq!(content.rows, [row(["1", "a"]), row(["5", "g"])]);
    assert_eq!(
        content.reject_lines(),
        [
            (3, None, "expected 2 fields, found 1".into()),
            (4, Some("id"), "`x` is not a valid int64".into()),
            (6, Some("text"), "byte 0xff after 1 character is not UTF-8".into()),
            (7, None, "expected 2 fields, found 3".into()),
        ]
    );
}

#[test]
fn a_row_is_rejected_once_for_its_first_column() {
    let content = two_columns(b"x,\xff\n").read();
    assert_eq!(content.reject_lines().len(), 1);
    assert_eq!(content.rejects[0].column.as_deref(), Some("id"));
}

#[test]
fn invalid_utf8_elsewhere_harms_no_row() {
    let content = Table::new(b"a,b\n\xff,ok\n\xfe,ok\n").column("b", Type::Text).read();
    assert_eq!((content.rows.len(), content.rejects.len()), (2, 0));
}

#[test]
fn a_character_cut_by_a_separator_is_invalid() {
    let content =
        Table::new(b"a,b\n\xc3,\xb1\n").column("a", Type::Text).column("b", Type::Text).read();
    assert_eq!(content.rejects[0].reason, RejectReason::InvalidUtf8 { byte: 0xc3, after_chars: 0 });
}

#[test]
fn a_quote_that_is_never_closed_says_where_it_opened() {
    let content = two_columns("1,a\n2,\"b\nc\"\n\"3\n\",\"d\n4,e\n5,f\n").read();
    assert_eq!(content.rows, [row(["1", "a"]), row(["2", "b\nc"])]);
    assert_eq!(content.rejects.len(), 1);
    assert_eq!(content.rejects[0].line, 5);
    assert_eq!(content.rejects[0].reason, RejectReason::UnclosedQuote { opened_line: 6 });
}

#[test]
fn lines_are_absolute_over_many_chunks() {
    let body: String =
        (0..10_000).map(|i| if i % 100 == 99 { "bad\n" } else { "1,\"a\nb\"\n" }).collect();
    let mut table = two_columns(&body);
    table.options.chunk_bytes = 777;
    table.threads = 3;
    let content = table.read();
    assert_eq!(content.rows.len(), 9_900);
    // Ninety-nine records of two lines come before each bad one.
    let expected: Vec<u64> = (0..100).map(|i| 2 + i * 199 + 198).collect();
    let lines: Vec<u64> = content.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(lines, expected);
}

#[test]
fn raw_records_are_kept_on_request() {
    let mut table = two_columns("1\r\nx,\"b\nc\"\n2,\"d\n");
    table.options = Options { keep_raw_rejects: true, ..Options::default() };
    let raw: Vec<_> = table.read().rejects.into_iter().map(|reject| reject.raw.unwrap()).collect();
    assert_eq!(raw, [&b"1"[..], b"x,\"b\nc\"", b"2,\"d"]);
}

#[test]
fn strict_fails_at_the_first() {
    let mut table = two_columns("1,a\nx,b\n2\n");
    table.options = Options { strict: true, ..Options::default() };
    let error = table.try_read().unwrap_err();
    assert_eq!(error.code(), "CDL-1008");
    let place = format!("{}:3: column `id`: `x` is not a valid int64", table.path(0).display());
    assert_eq!(error.to_string(), place);
}
