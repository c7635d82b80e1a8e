//! The examples are run, and say what they should.

use std::path::PathBuf;
use std::process::Command;

/// `cargo test` has built it, beside this test.
fn said_by(example: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let program: PathBuf = test.parent().unwrap().parent().unwrap().join("examples").join(example);
    assert!(program.exists(), "cargo build -p caudal --examples makes {}", program.display());
    let output = Command::new(program).env_remove("CAUDAL_GATEWAY").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn own_files() {
    let said = said_by("own_files");
    assert!(said.contains("| Go    | 3 | 4.0   |\n| Chess | 2 | 3.5   |"), "{said}");
    assert!(said.contains("| 12.0"), "{said}");
}

#[test]
fn suite_in_one_pass() {
    let said = said_by("suite_in_one_pass");
    assert!(said.starts_with("q1, q3, q4 in "), "{said}");
    for query in ["q1", "q3", "q4"] {
        assert!(said.contains(&format!("{query}: its first rows, with ")), "{said}");
        assert!(said.contains(&format!("\n{query}: ")), "{said}");
    }
}

#[test]
fn rejects_and_errors() {
    let said = said_by("rejects_and_errors");
    assert!(said.starts_with("2 rows of sales do not fit:\n  line 3: "), "{said}");
    for code in ["CDL-1008", "CDL-2003", "CDL-2002", "CDL-2005"] {
        assert!(said.contains(&format!("\n{code}: ")), "{said}");
    }
    assert!(
        said.contains(
            "1 | SELECT ammount FROM sales\n  |        ^\nhint: did you mean \"amount\"?"
        ),
        "{said}"
    );
}

#[test]
fn progress_and_cancel() {
    let said = said_by("progress_and_cancel");
    assert!(said.starts_with("numbers: "), "{said}");
    assert!(said.contains("\nanswered with 1 row\nsome "), "{said}");
}

/// The code that the README shows is what is run.
#[test]
fn the_readme_shows_an_example() {
    let readme = include_str!("../../../../README.md");
    let shown = readme.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let example = include_str!("../../examples/own_files.rs");
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain(example).contains(&plain(shown)), "{shown}");
}
