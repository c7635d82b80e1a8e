//! Every error code has a page, and every page a code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The codes that the program can say: those in the crates' sources.
fn codes_in_sources() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for crate_folder in fs::read_dir(Path::new(ROOT).join("crates")).unwrap() {
        let source = crate_folder.unwrap().path().join("src");
        if source.is_dir() {
            collect_codes(&source, &mut codes);
        }
    }
    codes
}

fn collect_codes(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            codes.extend(codes_in(&fs::read_to_string(path).unwrap()));
        }
    }
}

fn codes_in(text: &str) -> impl Iterator<Item = String> {
    text.match_indices("CDL-").filter_map(|(at, _)| {
        let code = text.get(at..at + 8)?;
        code[4..].bytes().all(|byte| byte.is_ascii_digit()).then(|| code.to_string())
    })
}

fn pages() -> BTreeSet<String> {
    let folder = fs::read_dir(Path::new(ROOT).join("docs/errors")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".md").map(str::to_string)).collect()
}

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(format!("docs/errors/{name}.md"))).unwrap()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let codes = codes_in_sources();
    assert!(codes.len() > 50, "found only {codes:?}");
    let mut pages = pages();
    assert!(pages.remove("README"), "the index is missing");
    let missing: Vec<_> = codes.difference(&pages).collect();
    let stray: Vec<_> = pages.difference(&codes).collect();
    assert!(missing.is_empty() && stray.is_empty(), "no page: {missing:?}; no code: {stray:?}");
}

#[test]
fn every_page_shows_its_message_and_says_what_to_do() {
    for code in codes_in_sources() {
        let page = page(&code);
        assert!(page.starts_with(&format!("# {code}: ")), "{code} has another title");
        assert!(page.contains(&format!("error[{code}]: ")), "{code} shows no message");
        assert!(page.contains("**What to do.**"), "{code} does not say what to do");
        let lines = page.lines().count();
        assert!((8..=20).contains(&lines), "{code} has {lines} lines");
    }
}

#[test]
fn the_index_lists_every_page_with_its_title() {
    let index = page("README");
    for code in codes_in_sources() {
        let title = page(&code).lines().next().unwrap().replace(&format!("# {code}: "), "");
        let row = format!("| [{code}]({code}.md) | {title} |");
        assert!(index.contains(&row), "the index lacks the line {row}");
    }
}
