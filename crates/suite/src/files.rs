//! Finding the files that a pattern means.

use std::path::{Path, PathBuf};

use crate::Error;

/// The files that `pattern` (`*`, `?`, `[a-z]`, `**/`) matches under `base`, sorted by path.
///
/// An absolute pattern ignores `base`. A pattern that is the very name of a file means that file, so
/// that names with brackets need no escaping.
pub fn matching(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let literal = base.join(pattern);
    if literal.is_file() {
        return Ok(vec![literal]);
    }
    let whole = if Path::new(pattern).is_absolute() {
        pattern.to_string()
    } else {
        let base = glob::Pattern::escape(&base.to_string_lossy());
        format!("{base}/{pattern}")
    };
    let paths = glob::glob(&whole)
        .map_err(|source| Error::BadPattern { pattern: pattern.to_string(), source })?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| Error::UnreadableFolder {
            folder: error.path().to_path_buf(),
            source: error.into(),
        })?;
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    fn names(base: &Path, pattern: &str) -> Vec<String> {
        let relative = |path: PathBuf| path.strip_prefix(base).unwrap().display().to_string();
        let found = matching(base, pattern).unwrap();
        found.into_iter().map(relative).collect()
    }

    #[test]
    fn a_pattern_gives_its_files_sorted() {
        let data = folder(&["r/r_2.csv", "r/r_10.csv", "r/other.txt", "r/r_x.csv/inner"]);
        assert_eq!(names(data.path(), "r/r_*.csv"), ["r/r_10.csv", "r/r_2.csv"]);
        assert_eq!(names(data.path(), "r/r_?.csv"), ["r/r_2.csv"]);
        assert!(names(data.path(), "none*.csv").is_empty());
    }

    #[test]
    fn brackets_in_names_are_only_brackets() {
        let data = folder(&["odd [1]/games [2].csv"]);
        let base = data.path().join("odd [1]");
        assert_eq!(names(&base, "games [2].csv"), ["games [2].csv"]);
        assert_eq!(names(&base, "*.csv"), ["games [2].csv"]);
    }

    #[test]
    fn an_absolute_pattern_ignores_the_base() {
        let data = folder(&["a.csv"]);
        let pattern = format!("{}/*.csv", data.path().display());
        assert_eq!(matching(Path::new("/nowhere"), &pattern).unwrap().len(), 1);
    }

    #[test]
    fn a_broken_pattern_is_an_error() {
        let error = matching(Path::new("."), "a***b").unwrap_err();
        assert_eq!(error.code(), codes::BAD_PATTERN);
    }
}
