//! Files as other programs write them, with the rows that pyarrow or DuckDB find in them.

use std::fs;
use std::path::Path;
use std::process::Command;

use caudal_source::Error;
use caudal_testing::python;

use crate::common::{Folder, Row, guessed, read, small_chunks};

const PACKAGES: &str = include_str!("../../../../tools/files/requirements.txt");

/// Writes files, and beside each what it holds as lines of JSON: every value as text, or null.
const SCRIPT: &str = include_str!("kinds.py");

#[test]
fn every_kind_of_file_has_the_rows_that_its_makers_find() {
    let packages: Vec<&str> = PACKAGES.lines().collect();
    let Some(python) = python("kinds of files", "files", &packages) else { return };
    let folder = Folder::new();
    let output = Command::new(python.join("bin/python"))
        .args(["-c", SCRIPT])
        .arg(folder.0.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut wrong = vec![];
    let mut count = 0;
    let mut entries: Vec<_> =
        fs::read_dir(folder.0.path()).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for expected in entries.iter().filter(|path| path.extension().is_some_and(|e| e == "expected"))
    {
        count += 1;
        let file = expected.with_extension("");
        let rows = expected_rows(expected);
        match (found(&file), rows) {
            (Ok(found), rows) if found == rows => {}
            (Ok(found), rows) => {
                let at = found.iter().zip(&rows).position(|(one, other)| one != other);
                let shown = at.map(|at| format!("{:?} instead of {:?}", found[at], rows[at]));
                wrong.push(format!(
                    "{}: {} rows of {}, {shown:?}",
                    file.display(),
                    found.len(),
                    rows.len()
                ));
            }
            (Err(error), _) => wrong.push(format!("{}: {error}", file.display())),
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 60, "only {count} kinds");
}

fn found(file: &Path) -> Result<Vec<Row>, Error> {
    let content = read(&guessed(&[file.to_path_buf()])?, small_chunks())?;
    assert!(content.rejects.is_empty(), "{}: {:?}", file.display(), content.rejects);
    Ok(content.rows())
}

fn expected_rows(file: &Path) -> Vec<Row> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
