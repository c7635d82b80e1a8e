//! A test that runs as a process of its own, so that it can be killed or have another environment.
//!
//! The process is this very binary with one of its tests. Run with the others that test does nothing.

use std::process::Command;

const WORK: &str = "CAUDAL_JOURNAL_CHILD";

/// Command that runs `test` in a process of its own, with this to work on.
pub fn command(test: &str, work: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(WORK, work);
    command
}

/// The `work` of a test that is run by [`command`]; `None` in any other run.
pub fn work() -> Option<String> {
    std::env::var(WORK).ok()
}
