//! Errors that end a read say what happened, where, and what to do.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use caudal_core::{Coded, codes};
use caudal_csv::{Error, Options, Type};
use common::Table;

fn error_of(table: &Table) -> (Error, String) {
    let error = table.try_read().unwrap_err();
    let message = error.to_string().replace(&format!("{}/", table.dir.path().display()), "");
    (error, message)
}

#[test]
fn no_such_file() {
    let table = Table::new("a\n1\n").column("a", Type::Int64);
    fs::remove_file(table.path(0)).unwrap();
    let (error, message) = error_of(&table);
    assert_eq!((error.code(), &message[..]), (codes::NO_SUCH_FILE, "no such file: 0.csv"));
}

#[test]
fn cannot_read() {
    // A name that is longer than a name may be: neither there nor missing.
    let mut table = Table::new("a\n1\n");
    table.spec.files[0] = table.dir.path().join("a".repeat(300));
    assert_eq!(table.try_read().unwrap_err().code(), "CDL-1002");
}

#[test]
fn neither_a_folder_nor_a_pipe_is_a_file() {
    let mut table = Table::new("a\n1\n");
    table.spec.files[0] = table.dir.path().into();
    assert_eq!(table.try_read().unwrap_err().code(), "CDL-1012");
    let pipe = table.dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    table.spec.files[0] = pipe;
    assert_eq!(table.try_read().unwrap_err().code(), "CDL-1012", "without waiting for a writer");
}

#[test]
fn empty_file() {
    let (error, message) = error_of(&Table::new("a\n1\n").file("").column("a", Type::Int64));
    assert_eq!(
        (error.code(), &message[..]),
        (codes::FILE_EMPTY, "1.csv is empty: it has no header")
    );
}

#[test]
fn column_not_in_header() {
    let (error, message) = error_of(&Table::new("price,Name\n1,x\n").column("name", Type::Text));
    assert_eq!(error.code(), "CDL-1004");
    assert_eq!(message, "table `t`: column `name` is not in the header of 0.csv");
    assert_eq!(error.hint().unwrap(), "did you mean `Name`? the header has `price`, `Name`");
}

#[test]
fn index_beyond_fields() {
    let (error, message) = error_of(&Table::new("a,b\n").column_at(2, Type::Text));
    assert_eq!(error.code(), "CDL-1005");
    assert_eq!(
        message,
        "table `t`: column `c2` is at index 2, but the records of 0.csv have 2 fields"
    );
    assert!(error.hint().unwrap().starts_with("indexes go from 0 to 1"));
}

#[test]
fn duplicate_header_name_used_by_name() {
    let table = Table::new("a,b,a\n1,2,3\n");
    let (error, _) = error_of(&table.column("a", Type::Text));
    assert_eq!(error.code(), "CDL-1006");
    assert_eq!(error.hint().unwrap(), "refer to the column by its index: one of 0, 2");
    assert_eq!(Table::new("a,b,a\n1,2,3\n").column("b", Type::Int64).read().rows.len(), 1);
}

#[test]
fn record_too_long() {
    let options = Options { chunk_bytes: 16, record_bytes_max: 100, ..Options::default() };
    let body = "1,2\n3,\"4\n5\"\n\"6\n\",\"".to_string() + &"7\n".repeat(200);
    let table =
        Table::new("a,b\n".to_string() + &body).column("a", Type::Text).options(options.clone());
    let (error, message) = error_of(&table);
    assert_eq!(error.code(), "CDL-1007");
    assert_eq!(message, "0.csv:5: the record that starts here is longer than 100 bytes");
    assert!(error.hint().unwrap().contains("opened on line 6"), "{:?}", error.hint());

    let body = "1,2\n".to_string() + &"x".repeat(200);
    let (error, message) = error_of(&Table::new("a,b\n".to_string() + &body).options(options));
    assert_eq!(message, "0.csv:3: the record that starts here is longer than 100 bytes");
    assert!(error.hint().unwrap().contains("line endings"));
}

#[test]
fn after_an_error_there_are_no_more_chunks() {
    let options = Options { chunk_bytes: 4, record_bytes_max: 8, ..Options::default() };
    let reader = Table::new("a\nxxxxxxxxxxxxxxxxxxxx\n1\n").options(options).open().unwrap();
    assert!(reader.next_chunk().is_err());
    assert!(reader.next_chunk().unwrap().is_none());
}

#[test]
fn a_table_without_files_and_a_decimal_that_cannot_be() {
    let mut table = Table::new("a\n1\n");
    table.spec.files.clear();
    assert_eq!(table.try_read().unwrap_err().code(), "CDL-1010");
    for (precision, scale) in [(0, 0), (39, 0), (5, 6), (5, -1)] {
        let table = Table::new("a\n1\n").column("a", Type::Decimal { precision, scale });
        assert_eq!(table.try_read().unwrap_err().code(), "CDL-1011");
    }
}
