//! What holds of every source, here of plain CSV.

use caudal_core::{Coded, codes};
use caudal_source::{Options, Table};

use crate::common::{Folder, csv, guessed, read, read_source, small_chunks};

#[test]
fn only_the_needed_columns_are_there() {
    let folder = Folder::new();
    let table = guessed(&[folder.file("t.csv", csv(10))]).unwrap();
    let options = Options { position: Some("_row".into()), ..Options::default() };
    let source = table.open(vec![2], options).unwrap();
    let content = read_source(source.as_ref()).unwrap();
    let names: Vec<_> = content.batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["price", "_row"]);
    assert_eq!(content.rows()[3], [Some("0.75".to_string()), Some("3".to_string())]);
}

#[test]
fn the_same_chunks_come_again() {
    let folder = Folder::new();
    let files = [folder.file("a.csv", csv(1000)), folder.file("b.csv", csv(700))];
    let source = guessed(&files).unwrap().open(vec![0, 1], small_chunks()).unwrap();
    let first = read_source(source.as_ref()).unwrap();
    let again = read_source(source.again().unwrap().as_ref()).unwrap();
    assert!(first.chunks.len() > 5);
    assert_eq!((first.batch, first.chunks), (again.batch, again.chunks));
}

#[test]
fn the_first_misfit_is_an_error_if_it_is_to_be() {
    let folder = Folder::new();
    let table = guessed(&[folder.file("t.csv", "a,b\n1,2\n3\n")]).unwrap();
    let options = Options { strict: true, ..Options::default() };
    assert_eq!(read(&table, options).unwrap_err().code(), codes::ROW_DOES_NOT_FIT);
}

#[test]
fn no_files_and_no_file_are_told() {
    assert_eq!(guessed(&[]).unwrap_err().code(), codes::TABLE_WITHOUT_FILES);
    assert_eq!(guessed(&["no such".into()]).unwrap_err().code(), codes::NO_SUCH_FILE);
    let spec = caudal_csv::Table {
        name: "t".into(),
        files: vec![],
        columns: vec![],
        fields: None,
        dialect: caudal_csv::Dialect::default(),
    };
    assert_eq!(
        read(&Table::from(spec), Options::default()).unwrap_err().code(),
        codes::TABLE_WITHOUT_FILES
    );
}
