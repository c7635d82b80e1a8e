//! What the project's style can have checked by a test: no file that is several things, no leftovers.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};

/// A file longer than this is asked whether it is really one thing.
const LINES_MAX: usize = 500;

/// Leftovers, spelled so that this file does not contain them.
const LEFTOVERS: [&str; 4] =
    [concat!("FIX", "ME"), concat!("XX", "X"), concat!("TO", "DO"), concat!("#[ign", "ore")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn source_files() -> Vec<PathBuf> {
    let mut files = vec![];
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 100, "the walk finds the sources: {}", files.len());
    files
}

#[test]
fn files_are_short() {
    let long: Vec<_> = source_files()
        .into_iter()
        .filter(|path| fs::read_to_string(path).unwrap().lines().count() > LINES_MAX)
        .collect();
    assert!(long.is_empty(), "over {LINES_MAX} lines: {long:#?}");
}

#[test]
fn nothing_is_left_over() {
    for path in source_files() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let found = LEFTOVERS.iter().find(|leftover| line.contains(*leftover));
            assert!(found.is_none(), "{}:{}: {}", path.display(), number + 1, line.trim());
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    for path in source_files() {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().find(|line| !line.starts_with("#!") && !line.is_empty());
        let documented = first.is_some_and(|line| line.starts_with("//!"));
        assert!(documented, "{} has no module documentation", path.display());
    }
}
