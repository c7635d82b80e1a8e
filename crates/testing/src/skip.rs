//! A test that did not run is seen: `./test` lists all of them at its end.

use std::fs::OpenOptions;
use std::io::Write;

/// Names the file to which each skipped test adds a line.
const LIST: &str = "CAUDAL_SKIPPED";

/// Says that a test did not run for want of something that `./test` sets up. In CI (`CI=true`) it fails for that.
///
/// # Panics
/// In CI.
pub fn skip(test: &str, reason: &str) {
    note(test, reason);
    let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!in_ci, "skipped, which in CI is a failure: {test}: {reason}");
}

/// Says that a test did not run because of what no setup can give: another user, kernel or system.
pub fn skip_on_this_machine(test: &str, reason: &str) {
    note(test, reason);
}

fn note(test: &str, reason: &str) {
    let line = format!("{test}: {}\n", reason.replace('\n', " "));
    eprint!("SKIPPED {line}");
    let Some(list) = std::env::var_os(LIST) else { return };
    let list = OpenOptions::new().create(true).append(true).open(list);
    list.and_then(|mut list| list.write_all(line.as_bytes()))
        .expect("the list of skipped tests can be written");
}
