//! Agreement with TextBlob, whose default analyser `sentiment()` reproduces.
//!
//! The committed fixture is checked everywhere. The other tests ask TextBlob itself.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use caudal_functions::sentiment::polarity;

const TEXTBLOB: &str = "textblob==0.20.1";
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/textblob");

#[test]
fn agrees_on_the_fixture() {
    let fixture =
        fs::read_to_string(format!("{SCRIPTS}/fixture.tsv")).expect("a file of this crate");
    assert_agreement(&fixture);
}

#[test]
fn agrees_on_made_up_texts() {
    let Some(python) = python() else { return };
    let mut random = fastrand::Rng::with_seed(7);
    let texts: Vec<String> = (0..20_000).map(|_| made_up_text(&mut random)).collect();
    assert_agreement(&textblob_polarities(&python, &texts));
}

#[test]
fn agrees_on_the_shared_data() {
    let Some(python) = python() else { return };
    for (file, column) in [
        ("books/Books_rating.csv", "review/text"),
        ("steam/reviews.csv", "review_text"),
        ("movies/movies_metadata.csv", "overview"),
    ] {
        let test = "agreement with TextBlob on real data";
        let Some(path) = caudal_testing::shared(test, &format!("data/{file}")) else { continue };
        assert_agreement(&textblob_polarities(&python, &column_of(&path, column)));
    }
}

#[test]
fn the_lexicon_is_that_of_textblob() {
    let Some(python) = python() else { return };
    let output =
        Command::new(python).arg(format!("{SCRIPTS}/lexicon.py")).output().expect("python runs");
    let embedded = include_str!("../src/sentiment/lexicon.txt");
    assert!(
        output.stdout == embedded.as_bytes(),
        "lexicon.txt differs: see tests/textblob/lexicon.py"
    );
}

/// Checks lines of `polarity<TAB>text as JSON`.
fn assert_agreement(lines: &str) {
    assert!(!lines.is_empty(), "nothing to compare");
    for line in lines.lines() {
        let (expected, text) = line.split_once('\t').expect("two fields");
        let expected: f64 = expected.parse().expect("a number");
        let text: String = serde_json::from_str(text).expect("a JSON string");
        // Not within some distance: the same operations in the same order give the same bits.
        assert_eq!(polarity(&text), expected, "{text:?}");
    }
}

fn textblob_polarities(python: &Path, texts: &[String]) -> String {
    let lines: String = texts.iter().map(|text| format!("{}\n", serde_json::json!(text))).collect();
    let mut child = Command::new(python)
        .arg(format!("{SCRIPTS}/polarity.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python runs");
    let mut input = child.stdin.take().expect("it is piped");
    // From a thread of its own, since the script answers before it has read everything.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("python ends");
    writer.join().expect("the writer does not panic").expect("python reads all its input");
    assert!(output.status.success(), "polarity.py failed");
    String::from_utf8(output.stdout).expect("the script writes UTF-8")
}

/// Fragments of what the rules look at, in an order nobody would think of.
fn made_up_text(random: &mut fastrand::Rng) -> String {
    const FRAGMENTS: &[&str] = &[
        "good", "Bad", "very", "really", "NOT", "no", "never", "awfully", "a", "is", "the", "book",
        "xD", "x", "D", "8", "3", "o", "c", "s", "b", "p", "P", "O", "max", "great", "n't",
        "can't", "'s", "'", "\"", "“", "”", "’", ".", "..", "...", "....", "!", "!!", "?", "(",
        ")", "(!)", "[", "]", "{", "}", "<", ">", ":", ";", "=", "*", "-", "^", "_", "°", "/",
        "\\", "|", ",", "<3", ":)", ":'(", ":'''(", ":-.", "o.O", ">.>", "Mr.", "U.S.", "etc.",
        "Xyz.", "é", "İ", "Σ", "♥", "good.", "bad!", "\n", "\n\n", "\r\n", "\t", "\u{a0}",
        "\u{1d}", "well-off",
    ];
    let mut text = String::new();
    for _ in 0..random.usize(1..25) {
        text.push_str(FRAGMENTS[random.usize(..FRAGMENTS.len())]);
        if random.u8(..3) > 0 {
            text.push(' ');
        }
    }
    text
}

fn column_of(path: &Path, column: &str) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).from_path(path).expect("a readable file");
    let headers = reader.headers().expect("a header").clone();
    let index = headers.iter().position(|name| name == column).expect("the column is there");
    let records = reader.records().filter_map(Result::ok);
    records.filter_map(|record| record.get(index).map(str::to_owned)).collect()
}

/// A Python that has TextBlob, made on first use.
fn python() -> Option<PathBuf> {
    let environment = caudal_testing::python("agreement with TextBlob", "textblob", &[TEXTBLOB])?;
    Some(environment.join("bin/python"))
}
