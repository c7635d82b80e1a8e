//! Comparing a folder of results with a folder of expected ones, file by file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{Error, Order, Outcome, compare_files};

/// Outcome of each result's comparison, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub results: BTreeMap<String, Outcome>,
}

/// Compares every `*.csv` of `expected` with the file of that name in `results`.
pub fn compare_dirs(results: &Path, expected: &Path, order: Order) -> Result<Report, Error> {
    let actual = csv_files(results)?;
    let expected_files = csv_files(expected)?;
    if expected_files.is_empty() {
        return Err(Error::NothingExpected { folder: expected.to_path_buf() });
    }
    let unexpected = actual.keys().filter(|name| !expected_files.contains_key(*name));
    let mut outcomes: BTreeMap<String, Outcome> =
        unexpected.map(|name| (name.clone(), Outcome::NotExpected)).collect();
    for (name, path) in &expected_files {
        let outcome = match actual.get(name) {
            None => Outcome::Missing,
            Some(result) => compare_files(result, path, order)?,
        };
        outcomes.insert(name.clone(), outcome);
    }
    Ok(Report { results: outcomes })
}

fn csv_files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_path_buf(), source };
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "csv")
            && let Some(stem) = path.file_stem()
        {
            files.insert(stem.to_string_lossy().into_owned(), path);
        }
    }
    Ok(files)
}

impl Report {
    /// Whether everything that was expected is there and the same.
    pub fn passed(&self) -> bool {
        self.results
            .values()
            .all(|outcome| matches!(outcome, Outcome::Same { .. } | Outcome::NotExpected))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.results {
            writeln!(f, "{name}: {outcome}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same { rows: 1 } => write!(f, "same, 1 row"),
            Self::Same { rows } => write!(f, "same, {rows} rows"),
            Self::Different(difference) => write!(f, "DIFFERENT: {difference}"),
            Self::Missing => write!(f, "MISSING: there is no such result"),
            Self::NotExpected => write!(f, "not compared: nothing is expected under this name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn every_name_gets_its_outcome() {
        let results = folder(&[("q1.csv", "a\n1\n2\n"), ("q2.csv", "a\n1\n"), ("q9.csv", "a\n")]);
        let expected = folder(&[
            ("q1.csv", "a\n2\n1\n"),
            ("q2.csv", "a\n2\n"),
            ("q3.csv", "a\n"),
            ("notes.txt", ""),
        ]);
        let report = compare_dirs(results.path(), expected.path(), Order::Any).unwrap();
        assert_eq!(report.results["q1"], Outcome::Same { rows: 2 });
        assert!(matches!(report.results["q2"], Outcome::Different(_)));
        assert_eq!(report.results["q3"], Outcome::Missing);
        assert_eq!(report.results["q9"], Outcome::NotExpected);
        assert_eq!(report.results.len(), 4);
        assert!(!report.passed());
        assert!(report.to_string().contains("q1: same, 2 rows\nq2: DIFFERENT: 1 row missing"));
    }

    #[test]
    fn comparing_with_nothing_is_an_error() {
        let (results, expected) = (folder(&[("q1.csv", "a\n")]), folder(&[]));
        let compared = compare_dirs(results.path(), expected.path(), Order::Any);
        assert_eq!(compared.unwrap_err().code(), codes::NOTHING_EXPECTED);
        let nowhere = compare_dirs(Path::new("/nowhere"), expected.path(), Order::Any);
        assert_eq!(nowhere.unwrap_err().code(), codes::RESULTS_UNREADABLE);
    }

    #[test]
    fn what_is_not_csv_is_an_error() {
        let (results, expected) = (folder(&[("q1.csv", "a,b\n1\n")]), folder(&[("q1.csv", "a\n")]));
        let compared = compare_dirs(results.path(), expected.path(), Order::Any);
        assert_eq!(compared.unwrap_err().code(), codes::RESULT_NOT_CSV);
    }
}
