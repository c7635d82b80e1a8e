//! The real extracts of `../shared/data`, whose rows Python's `csv` module has counted.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use caudal_csv::{At, Column, Options, Reader, Table, Type, infer};
use common::read_all;

/// File, fields of a record where the header lies, rows.
const FILES: [(&str, Option<usize>, usize); 12] = [
    ("steam/games.csv", Some(40), 1010),
    ("steam/reviews.csv", None, 6417),
    ("movies/movies_metadata.csv", None, 9982),
    ("movies/ratings.csv", None, 100_004),
    ("movies/credits.csv", None, 1142),
    ("books/books_data.csv", None, 2274),
    ("books/Books_rating.csv", None, 1485),
    ("coffee/stores/stores.csv", None, 10),
    ("coffee/menu_items/menu_items.csv", None, 8),
    ("coffee-10k/users/users_202406.csv", None, 79_595),
    ("coffee-10k/transactions/transactions_202401.csv", None, 9999),
    ("coffee-10k/transaction_items/transaction_items_202401.csv", None, 2428),
];

fn real_file(name: &str) -> Option<PathBuf> {
    caudal_testing::shared("the rows of a real file", &format!("data/{name}"))
}

fn open(file: PathBuf, fields: Option<usize>, columns: Vec<Column>, options: Options) -> Reader {
    let projection = (0..columns.len()).collect();
    let spec = Table {
        name: "t".into(),
        files: vec![file],
        columns,
        fields,
        dialect: caudal_csv::Dialect::default(),
    };
    Reader::open(spec, projection, options).unwrap()
}

#[test]
fn every_row_that_python_counts() {
    for (name, fields, expected) in FILES {
        let Some(file) = real_file(name) else { continue };
        let first_as_text = Column { name: "first".into(), at: At::Index(0), ty: Type::Text };
        for chunk_bytes in [4 << 20, 10_000] {
            let options = Options { chunk_bytes, ..Options::default() };
            let reader = open(file.clone(), fields, vec![first_as_text.clone()], options);
            let parsed = read_all(&reader, 2).unwrap();
            let rows: usize = parsed.iter().map(|parsed| parsed.batch.num_rows()).sum();
            let rejects: Vec<_> = parsed.iter().flat_map(|parsed| &parsed.rejects).collect();
            assert_eq!(rows + rejects.len(), expected, "{name}");
            assert!(rejects.is_empty(), "{name}: {}", rejects[0]);
            let bytes: usize = parsed.iter().map(|parsed| parsed.bytes).sum();
            assert_eq!(bytes as u64, reader.total_bytes(), "{name}");
        }
    }
}

#[test]
fn inferred_types_fit_every_row_of_coffee() {
    use Type::*;
    let Some(file) = real_file("coffee-10k/transactions/transactions_202401.csv") else { return };
    let columns = infer(std::slice::from_ref(&file), &Default::default(), None).unwrap().columns;
    let types: Vec<Type> = columns.iter().map(|column| column.ty).collect();
    assert_eq!(types[..3], [Text, Int64, Int64]);
    assert_eq!(types[4..], [Float64, Float64, Float64, Float64, Timestamp]);
    let parsed = read_all(&open(file, None, columns, Options::default()), 2).unwrap();
    assert_eq!(parsed.iter().map(|parsed| parsed.batch.num_rows()).sum::<usize>(), 9999);
}
