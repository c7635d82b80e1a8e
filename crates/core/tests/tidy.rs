//! Style rules of the project that a test can check: no file that is several things, no leftovers.

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

/// Codes are declared once, with what they mean; elsewhere they have names.
#[test]
fn codes_are_written_where_they_are_declared() {
    for path in source_files() {
        let is_elsewhere = path.components().any(|part| part.as_os_str() == "src")
            && !path.to_string_lossy().contains("core/src/error/");
        let text = fs::read_to_string(&path).unwrap();
        let said = |line: &&str| line.contains("CDL-") && !line.trim_start().starts_with("//");
        let found = text.lines().find(said).filter(|_| is_elsewhere);
        assert!(found.is_none(), "{}: {}", path.display(), found.unwrap_or_default());
    }
}

/// Every duration is a bound: it is declared with the others, and listed by `caudal limits`.
#[test]
fn durations_are_in_limits() {
    let is_elsewhere = |path: &Path| {
        let path = path.to_string_lossy();
        path.contains("/src/")
            && !path.contains("core/src/limits/")
            && !path.contains("crates/sim/")
            && !path.contains("crates/testing/")
    };
    for path in source_files().into_iter().filter(|path| is_elsewhere(path)) {
        let text = fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_bound = |line: &&str| {
            let Some((name, value)) =
                line.split_once("const ").and_then(|(_, it)| it.split_once(": "))
            else {
                return false;
            };
            let is_time =
                value.starts_with("Duration") || name.ends_with("_MS") || name.contains("_SECONDS");
            is_time && !value.contains("limits::")
        };
        let found = product.lines().find(is_bound);
        assert!(found.is_none(), "{}: {}", path.display(), found.unwrap_or_default());
    }
}
