//! The files of a folder, as one table.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// All files in a folder and those below it, by name. Those that begin with a dot or an underscore are the notes of whoever
/// wrote the others.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut folders) = (vec![], vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let unreadable = |error| Error::read(&folder, error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let is_note = entry.file_name().to_string_lossy().starts_with(['.', '_']);
            match entry.path() {
                _ if is_note => {}
                // A link to a folder may lead around in circles.
                path if path.is_dir() => {
                    if !path.is_symlink() {
                        folders.push(path);
                    }
                }
                path => files.push(path),
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_at_every_depth_but_notes() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("b/c")).unwrap();
        fs::create_dir(path("_log")).unwrap();
        for name in ["b/c/1", "b/0", "a", ".hidden", "_SUCCESS", "_log/x"] {
            fs::write(path(name), "").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), path("b/around")).unwrap();
        assert_eq!(files_in(folder.path()).unwrap(), [path("a"), path("b/0"), path("b/c/1")]);
    }
}
