//! What was asked before, kept for the next shell: a file of the user's, that nobody else can read.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use caudal_core::limits;
use rustyline::Config;
use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History};

use crate::plain_text::plain_line;

/// The file, if it can be used.
pub struct Kept {
    file: Option<PathBuf>,
}

impl Kept {
    /// The file in the folder for what users' programs remember.
    pub fn of_user() -> Self {
        let state = std::env::var_os("XDG_STATE_HOME");
        Self { file: place(state, std::env::var_os("HOME")) }
    }

    /// What it has, to begin with.
    pub fn read(&mut self, config: &Config) -> FileHistory {
        let mut history = FileHistory::with_config(config);
        if let Some(file) = &self.file {
            let made = file.parent().map_or(Ok(()), |folder| {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)
            });
            let read = made.map_err(ReadlineError::from).and_then(|()| match file.exists() {
                true => history.load(file),
                false => Ok(()),
            });
            self.go_without_after(read);
        }
        history
    }

    /// Adds an entry.
    pub fn add(&mut self, history: &mut FileHistory, entry: &str) {
        if entry.trim().is_empty() || entry.len() > limits::HISTORY_ENTRY_BYTES_MAX {
            return;
        }
        let added = history.add(entry).and_then(|_| match &self.file {
            Some(file) => history.append(file),
            None => Ok(()),
        });
        self.go_without_after(added);
    }

    /// A shell without history is a shell.
    fn go_without_after(&mut self, done: Result<(), ReadlineError>) {
        if let Err(error) = done
            && let Some(file) = self.file.take()
        {
            let file = file.display().to_string();
            eprintln!("warning: no history is kept in {}: {error}", plain_line(&file));
        }
    }
}

fn place(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let of_home = || Some(home.and_then(absolute)?.join(".local/state"));
    Some(state.and_then(absolute).or_else(of_home)?.join("caudal/history"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    fn config() -> Config {
        Config::builder().max_history_size(3).unwrap().build()
    }

    #[test]
    fn it_is_in_the_folder_for_state() {
        let os = |text: &str| Some(OsString::from(text));
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(place(os("/s"), os("/h")), path("/s/caudal/history"));
        assert_eq!(place(os("s"), os("/h")), path("/h/.local/state/caudal/history"));
        assert_eq!(place(None, os("/h")), path("/h/.local/state/caudal/history"));
        assert_eq!(place(os(""), None), None);
    }

    #[test]
    fn it_is_bounded_and_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/caudal/history");
        let kept = || Kept { file: Some(file.clone()) };
        let mut history = kept().read(&config());
        for entry in ["SELECT 1;", "SELECT\n2;", "  ", "a\\nb;", "SELECT 4;"] {
            kept().add(&mut history, entry);
        }
        kept().add(&mut history, &"x".repeat(limits::HISTORY_ENTRY_BYTES_MAX + 1));
        let history = kept().read(&config());
        assert_eq!(history.iter().collect::<Vec<_>>(), ["SELECT\n2;", "a\\nb;", "SELECT 4;"]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn without_a_file_there_is_history_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let mut kept = Kept { file: Some(folder.path().join("file/caudal/history")) };
        let mut history = kept.read(&config());
        kept.add(&mut history, "SELECT 1;");
        assert_eq!((history.len(), kept.file), (1, None));
    }
}
