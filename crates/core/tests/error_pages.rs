//! Every error code has a page, and every page a code.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use caudal_core::{Code, codes};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(code: Code) -> String {
    fs::read_to_string(root().join(code.page())).unwrap_or_else(|_| panic!("{code} has no page"))
}

#[test]
fn every_page_has_a_code() {
    let codes: BTreeSet<_> = codes::ALL.iter().map(|code| format!("{code}.md")).collect();
    assert!(codes.len() > 100, "found only {codes:?}");
    for entry in fs::read_dir(root().join("docs/errors")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || codes.contains(&name), "no code for {name}");
    }
}

#[test]
fn every_page_shows_its_message_and_says_what_to_do() {
    for &code in codes::ALL {
        let page = page(code);
        let title = format!("# {code}: {}\n", code.title());
        assert!(page.starts_with(&title), "the page should begin with {title}");
        assert!(page.contains(&format!("error[{code}]: ")), "{code} shows no message");
        assert!(page.contains("**What to do.**"), "{code} does not say what to do");
        let lines = page.lines().count();
        assert!((8..=20).contains(&lines), "{code} has {lines} lines");
    }
}

#[test]
fn the_index_lists_every_page_with_its_title() {
    let index = fs::read_to_string(root().join("docs/errors/README.md")).unwrap();
    for &code in codes::ALL {
        let row = format!("| [{code}]({code}.md) | {} |", code.title());
        assert!(index.contains(&row), "the index lacks the line {row}");
    }
}
