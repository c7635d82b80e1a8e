//! What has to hold of any file.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

use caudal_core::Coded;
use caudal_source::{Error, Options, Table};

use crate::common::{Content, guessed, read, read_source, small_chunks};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Read,
    Refused,
}

/// Reads a file in several ways.
///
/// # Panics
/// If they do not agree.
pub fn check(file: &Path) -> Verdict {
    let files = [PathBuf::from(file)];
    let table = match guessed(&files) {
        Ok(table) => table,
        Err(error) => return refused(&error),
    };
    let small = read(&table, small_chunks());
    let large = read(&table, Options::default());
    let content = match (small, large) {
        (Ok(small), Ok(large)) => {
            assert_same(&small, &large);
            small
        }
        (Err(one), Err(other)) => {
            assert_eq!(one.code(), other.code(), "{one}; or else: {other}");
            return refused(&one);
        }
        (Ok(read), Err(error)) | (Err(error), Ok(read)) => {
            panic!("{} rows or, in other chunks, {error}", read.batch.num_rows())
        }
    };
    check_columns(&table, &content);
    Verdict::Read
}

fn refused(error: &Error) -> Verdict {
    let said = error.to_string();
    assert!(!said.is_empty() && !said.contains("the thread that decompresses it died"), "{said}");
    assert!(!matches!(error, Error::Read { .. }), "no file is to blame: {said}");
    Verdict::Refused
}

fn assert_same(small: &Content, large: &Content) {
    assert!(small.reject_lines() == large.reject_lines(), "other rejects in other chunks");
    assert!(small.batch == large.batch, "other rows in other chunks");
}

/// A column read alone has the values that it has among all, unless rows are judged by the others as well.
fn check_columns(table: &Table, whole: &Content) {
    let count = table.schema().fields().len();
    for column in [0, count - 1] {
        let source = table.open(vec![column], small_chunks()).unwrap();
        let alone = read_source(source.as_ref()).unwrap();
        let seen = |content: &Content| content.batch.num_rows() + content.rejects.len();
        assert_eq!(seen(&alone), seen(whole), "rows are lost if only column {column} is read");
        if whole.rejects.is_empty() {
            let is_same = whole.batch.column(column) == alone.batch.column(0);
            assert!(is_same, "other values if only column {column} is read");
        }
    }
}

/// A name for a file.
pub fn checksum(content: &[u8]) -> u32 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(content);
    hasher.finish() as u32
}
