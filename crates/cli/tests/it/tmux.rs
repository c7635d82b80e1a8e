//! A terminal that keys can be pressed on and whose screen can be read: tmux.

use std::cell::Cell;
use std::process::{Command, Output};
use std::time::Instant;

use caudal_testing::{skip, wait_until};
use tempfile::TempDir;

use crate::place::Place;

/// A terminal of its own, with a program in it. Gone when it is dropped.
pub struct Terminal {
    /// The folder of its socket.
    folder: TempDir,
    /// Whether it still has to be closed.
    is_open: Cell<bool>,
}

impl Terminal {
    /// Runs a line of sh in a folder, with what the user's programs remember there, too. Nothing, where there is no tmux.
    pub fn open(place: &Place, (width, height): (u16, u16), line: &str) -> Option<Self> {
        let terminal = Self { folder: tempfile::tempdir().unwrap(), is_open: Cell::new(false) };
        let line = line.replace("caudal", &format!("'{}'", env!("CARGO_BIN_EXE_caudal")));
        // What has ended stays on the screen.
        let line = format!("{line}; echo \"[exit $?]\"; stty -a; exec sleep 600");
        let mut command = terminal.tmux();
        command
            .args(["-f", "/dev/null", "new-session", "-d", "-x", &width.to_string()])
            .args(["-y", &height.to_string(), &line])
            .current_dir(place.path(""))
            .env("XDG_STATE_HOME", place.path("state"))
            .env("RUST_BACKTRACE", "0");
        for unset in ["CAUDAL_GATEWAY", "CAUDAL_TOKEN", "COLUMNS", "NO_COLOR", "TMUX"] {
            command.env_remove(unset);
        }
        match command.output() {
            Ok(output) => succeeded(output),
            Err(error) => {
                skip("the shell on a terminal", &format!("tmux(1): {error}"));
                return None;
            }
        };
        terminal.is_open.set(true);
        Some(terminal)
    }

    /// Types a text.
    pub fn types(&self, text: &str) -> &Self {
        // A semicolon at the end of an argument would end tmux's command.
        let text = match text.strip_suffix(';') {
            Some(text) => format!("{text}\\;"),
            None => text.to_string(),
        };
        succeeded(self.tmux().args(["send-keys", "-l", &text]).output().unwrap());
        self
    }

    /// Presses a key, as tmux calls it: `Enter`, `Tab`, `Up`, `C-c`.
    pub fn presses(&self, key: &str) -> &Self {
        succeeded(self.tmux().args(["send-keys", key]).output().unwrap());
        self
    }

    pub fn resize(&self, width: u16, height: u16) -> &Self {
        let size = ["-x", &width.to_string(), "-y", &height.to_string()];
        succeeded(self.tmux().arg("resize-window").args(size).output().unwrap());
        self
    }

    /// What is on the screen, without what is empty at its end.
    pub fn screen(&self) -> String {
        let screen = succeeded(self.tmux().args(["capture-pane", "-p"]).output().unwrap());
        screen.trim_end().to_string()
    }

    /// The same with its colours.
    pub fn colors(&self) -> String {
        succeeded(self.tmux().args(["capture-pane", "-p", "-e"]).output().unwrap())
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        self.waits_for(text, |screen| screen.contains(text))
    }

    /// Waits until the screen ends so.
    #[track_caller]
    pub fn ends_with(&self, text: &str) -> &Self {
        self.waits_for(text, |screen| screen.ends_with(text))
    }

    #[track_caller]
    pub fn waits_for(&self, what: &str, is_so: impl Fn(&str) -> bool) -> &Self {
        let began = Instant::now();
        wait_until(what, || {
            let screen = self.screen();
            let is_so = is_so(&screen);
            assert!(is_so || began.elapsed().as_secs() < 100, "not {what:?} but:\n{screen}");
            is_so
        });
        self
    }

    /// Process of the program in it.
    pub fn program(&self) -> Option<u32> {
        let shell = self.tmux().args(["display-message", "-p", "#{pane_pid}"]).output().unwrap();
        let shell = succeeded(shell);
        let children = format!("/proc/{0}/task/{0}/children", shell.trim());
        std::fs::read_to_string(children).ok()?.split_whitespace().next()?.parse().ok()
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.folder.path().join("socket"));
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.is_open.get() {
            // It may have ended by itself.
            let _ = self.tmux().arg("kill-server").output();
        }
    }
}

#[track_caller]
fn succeeded(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
