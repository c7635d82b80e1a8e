//! A folder with files, the program run in it, and what it said.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        Self::new().and(name, content)
    }

    pub fn and(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Entries of a folder, hidden files too, sorted.
    pub fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env_remove("CAUDAL_GATEWAY")
            .env_remove("CAUDAL_TOKEN")
            .env_remove("COLUMNS")
            .env_remove("NO_COLOR")
            .env("RUST_BACKTRACE", "0");
        command
    }

    pub fn caudal(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    pub fn caudal_reading(&self, stdin: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    pub fn query(&self, sql: &str, options: &[&str]) -> Ran {
        self.caudal(&[&["query", "-c", sql], options].concat())
    }
}

pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Output of a run that succeeded and had nothing else to say.
    #[track_caller]
    pub fn answer(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self}");
        self.stdout
    }
}

/// Everything a run came to.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}
