//! Measures `language()` against lingua, whatlang and whichlang: the table of ADR 003.
//!
//! Reads the labelled texts and the Steam reviews of `../shared/data` (from the project's root) and
//! prints a Markdown table. Texts per second are those of the reviews, per second of one core's time, so
//! that other work on the machine does not count.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lingua::{LanguageDetector, LanguageDetectorBuilder};
use whatlang::Lang;

#[allow(dead_code)]
#[path = "../../../src/language/mod.rs"]
mod language;

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
    let sentences = labelled(&data.join("language"), "sentences");
    let word_pairs = labelled(&data.join("language"), "word-pairs");
    let reviews = reviews(&data.join("steam/reviews.csv"));
    println!(
        "{} sentences and {} word pairs in 21 languages, {} reviews\n",
        sentences.len(),
        word_pairs.len(),
        reviews.len()
    );
    println!(
        "| | sentences: all | English P / R | accuracy | word pairs: all | English P / R | accuracy | reviews: English | as lingua | texts/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut reference: Option<Vec<bool>> = None;
    for (name, detect) in candidates() {
        let of_sentences = Accuracy::of(&sentences, &*detect);
        let of_word_pairs = Accuracy::of(&word_pairs, &*detect);
        let start = cpu_seconds();
        let english: Vec<bool> =
            reviews.iter().map(|text| detect(text).as_deref() == Some("en")).collect();
        let reviews_per_second = reviews.len() as f64 / (cpu_seconds() - start);
        let english_reviews = english.iter().filter(|is_english| **is_english).count();
        let reference = reference.get_or_insert_with(|| english.clone());
        let agreeing = reference.iter().zip(&english).filter(|(left, right)| left == right).count();
        println!(
            "| {name} | {of_sentences} | {of_word_pairs} | {english_reviews} | {:.2} % | {reviews_per_second:.0} |",
            percent(agreeing, reviews.len()),
        );
    }
}

type Detect = Box<dyn Fn(&str) -> Option<String>>;

/// The candidates, lingua first: the others' verdicts on the reviews are compared with its.
fn candidates() -> Vec<(&'static str, Detect)> {
    let lingua = |builder: &mut LanguageDetectorBuilder| -> LanguageDetector {
        builder.with_preloaded_language_models().build()
    };
    let high = lingua(&mut LanguageDetectorBuilder::from_all_languages());
    let low = lingua(LanguageDetectorBuilder::from_all_languages().with_low_accuracy_mode());
    let fallback = lingua(&mut LanguageDetectorBuilder::from_all_languages());
    let of_21: Vec<Lang> = Lang::all()
        .iter()
        .copied()
        .filter(|lang| ISO.iter().any(|iso| iso.0 == lang.code()))
        .collect();
    let whatlang_21 = whatlang::Detector::with_allowlist(of_21.clone());
    let whatlang_first = whatlang::Detector::with_allowlist(of_21);
    vec![
        ("lingua, high accuracy", Box::new(move |text| lingua_code(&high, text))),
        ("lingua, low accuracy", Box::new(move |text| lingua_code(&low, text))),
        (
            "whatlang, all 69 languages",
            Box::new(|text| Some(iso(whatlang::detect_lang(text)?.code()))),
        ),
        (
            "whatlang, the 21",
            Box::new(move |text| Some(iso(whatlang_21.detect_lang(text)?.code()))),
        ),
        (
            "whichlang",
            Box::new(|text| Some(iso(whichlang::detect_language(text).three_letter_code()))),
        ),
        (
            "whatlang where sure (0.6), else lingua",
            Box::new(move |text| match whatlang_first.detect(text) {
                Some(info) if info.confidence() >= 0.6 => Some(iso(info.lang().code())),
                _ => lingua_code(&fallback, text),
            }),
        ),
        ("own n-grams", Box::new(|text| language::detect(text).map(str::to_owned))),
    ]
}

fn lingua_code(detector: &LanguageDetector, text: &str) -> Option<String> {
    Some(detector.detect_language_of(text)?.iso_code_639_1().to_string())
}

const ISO: [(&str, &str); 21] = [
    ("ces", "cs"),
    ("dan", "da"),
    ("deu", "de"),
    ("eng", "en"),
    ("spa", "es"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("hun", "hu"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("kor", "ko"),
    ("nld", "nl"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("swe", "sv"),
    ("tha", "th"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("cmn", "zh"),
];

/// The two-letter code of a three-letter one; of a language that is not among the 21, itself.
fn iso(code: &str) -> String {
    ISO.iter().find(|iso| iso.0 == code).map_or(code, |iso| iso.1).to_owned()
}

/// Accuracy of a candidate on labelled texts.
struct Accuracy {
    all: f64,
    english_precision: f64,
    english_recall: f64,
    english: f64,
}

impl Accuracy {
    fn of(texts: &[(String, String)], detect: &dyn Fn(&str) -> Option<String>) -> Self {
        // (is English, was called English, was called what it is) → texts
        let mut counts: BTreeMap<(bool, bool, bool), usize> = BTreeMap::new();
        for (label, text) in texts {
            let found = detect(text);
            let outcome =
                (label == "en", found.as_deref() == Some("en"), found.as_deref() == Some(label));
            *counts.entry(outcome).or_default() += 1;
        }
        let count = |wanted: &dyn Fn(&(bool, bool, bool)) -> bool| -> usize {
            counts.iter().filter(|(outcome, _)| wanted(outcome)).map(|(_, count)| count).sum()
        };
        let both = count(&|(is, called, _)| *is && *called);
        Self {
            all: percent(count(&|(_, _, right)| *right), texts.len()),
            english_precision: percent(both, count(&|(_, called, _)| *called)),
            english_recall: percent(both, count(&|(is, _, _)| *is)),
            english: percent(count(&|(is, called, _)| is == called), texts.len()),
        }
    }
}

impl std::fmt::Display for Accuracy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { all, english_precision, english_recall, english } = self;
        write!(
            formatter,
            "{all:.1} % | {english_precision:.1} / {english_recall:.1} % | {english:.2} %"
        )
    }
}

/// The time that this thread has run so far (Linux).
fn cpu_seconds() -> f64 {
    let statistics =
        fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has this file");
    let nanoseconds = statistics.split(' ').next().expect("it begins with the time on the core");
    nanoseconds.parse::<f64>().expect("a number") / 1e9
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// (label, text) of every line of `<kind>.<label>.txt`.
fn labelled(directory: &Path, kind: &str) -> Vec<(String, String)> {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a readable directory").path()).collect();
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let name = path.file_name().expect("a file").to_string_lossy();
        if let [found, label, "txt"] = name.split('.').collect::<Vec<_>>()[..]
            && found == kind
        {
            let lines = fs::read_to_string(&path).expect("a UTF-8 file");
            texts.extend(lines.lines().map(|line| (label.to_owned(), line.to_owned())));
        }
    }
    texts
}

fn reviews(path: &Path) -> Vec<String> {
    let mut reader =
        csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let texts = reader.records().filter_map(Result::ok).map(|record| record[2].to_owned());
    texts.filter(|text| !text.trim().is_empty()).collect()
}
