//! Makes `src/language/ngrams.bin` from the language models of lingua (Apache-2.0).
//!
//! lingua's models hold, for each language, the logarithm of the probability of a letter after up to
//! four others. For each n-gram the weight of a language is that value (of the longest known prefix,
//! where it does not know the n-gram), less the mean over the languages. Of three million n-grams
//! those are kept that are frequent somewhere and tell languages apart, with their prefixes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use fst::Streamer;
use include_dir::Dir;

#[allow(dead_code)]
#[path = "../../../src/language/ngrams.rs"]
mod ngrams;

use ngrams::{Key, LANES, Weights};

const LATIN_NGRAMS: usize = 60_000;
const CYRILLIC_NGRAMS: usize = 5_000;

/// The logarithm given to a letter that a language does not have.
const UNKNOWN_LETTER: f64 = -14.0;

/// Weights per unit of logarithm; those beyond ±127 are cut off.
const WEIGHT_SCALE: f64 = 12.0;

fn main() {
    let latin: [Dir<'_>; 15] = [
        lingua_czech_language_model::CZECH_MODELS_DIRECTORY,
        lingua_danish_language_model::DANISH_MODELS_DIRECTORY,
        lingua_german_language_model::GERMAN_MODELS_DIRECTORY,
        lingua_english_language_model::ENGLISH_MODELS_DIRECTORY,
        lingua_spanish_language_model::SPANISH_MODELS_DIRECTORY,
        lingua_finnish_language_model::FINNISH_MODELS_DIRECTORY,
        lingua_french_language_model::FRENCH_MODELS_DIRECTORY,
        lingua_hungarian_language_model::HUNGARIAN_MODELS_DIRECTORY,
        lingua_italian_language_model::ITALIAN_MODELS_DIRECTORY,
        lingua_dutch_language_model::DUTCH_MODELS_DIRECTORY,
        lingua_polish_language_model::POLISH_MODELS_DIRECTORY,
        lingua_portuguese_language_model::PORTUGUESE_MODELS_DIRECTORY,
        lingua_romanian_language_model::ROMANIAN_MODELS_DIRECTORY,
        lingua_swedish_language_model::SWEDISH_MODELS_DIRECTORY,
        lingua_turkish_language_model::TURKISH_MODELS_DIRECTORY,
    ];
    let cyrillic: [Dir<'_>; 2] = [
        lingua_russian_language_model::RUSSIAN_MODELS_DIRECTORY,
        lingua_ukrainian_language_model::UKRAINIAN_MODELS_DIRECTORY,
    ];
    let mut rows = rows_of_script(&latin, LATIN_NGRAMS);
    rows.extend(rows_of_script(&cyrillic, CYRILLIC_NGRAMS));
    let bytes = encode(rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/language/ngrams.bin");
    std::fs::write(&path, &bytes).expect("cannot write the model");
    println!(
        "{}: {} n-grams, {} bytes",
        path.display(),
        bytes.len() / ngrams::ROW_BYTES,
        bytes.len()
    );
}

/// A language's n-grams with the logarithm of the probability of their last letter after the others.
type Model = HashMap<String, f64>;

/// The n-grams that tell the languages of a script apart best, each with its weights.
fn rows_of_script(directories: &[Dir<'_>], count: usize) -> Vec<(String, Weights)> {
    let models: Vec<Model> = directories.iter().map(read_model).collect();
    let ngrams: HashSet<&String> = models.iter().flat_map(HashMap::keys).collect();
    let mut by_importance: Vec<(f64, &String)> =
        ngrams.into_iter().map(|ngram| (importance(&models, ngram), ngram)).collect();
    by_importance
        .sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1)));
    let mut kept = HashSet::new();
    for (_, ngram) in by_importance {
        let missing: Vec<&str> = prefixes(ngram).filter(|prefix| !kept.contains(*prefix)).collect();
        if kept.len() + missing.len() > count {
            break;
        }
        kept.extend(missing.into_iter().map(str::to_owned));
    }
    kept.into_iter().map(|ngram| (ngram.clone(), quantised(&weights(&models, &ngram)))).collect()
}

fn read_model(directory: &Dir<'_>) -> Model {
    let file = directory.get_file("ngrams.fst").expect("lingua's models have this file");
    let map = fst::Map::new(file.contents()).expect("lingua's models are in this format");
    let mut model = Model::new();
    let mut stream = map.stream();
    while let Some((ngram, bits)) = stream.next() {
        let ngram = std::str::from_utf8(ngram).expect("n-grams are UTF-8");
        model.insert(ngram.to_owned(), f64::from_bits(bits));
    }
    model
}

/// Frequency of an n-gram in each language, times how much it then changes the score; the sum of all.
fn importance(models: &[Model], ngram: &str) -> f64 {
    let weights = weights(models, ngram);
    let changes =
        models.iter().zip(weights).map(|(model, weight)| frequency(model, ngram) * weight.abs());
    changes.sum()
}

fn frequency(model: &Model, ngram: &str) -> f64 {
    let logarithms: Option<f64> = prefixes(ngram).map(|prefix| model.get(prefix)).sum();
    logarithms.map_or(0.0, f64::exp)
}

fn weights(models: &[Model], ngram: &str) -> Vec<f64> {
    let logarithms: Vec<f64> = models.iter().map(|model| logarithm(model, ngram)).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    logarithms.into_iter().map(|logarithm| logarithm - mean).collect()
}

fn logarithm(model: &Model, ngram: &str) -> f64 {
    let known = prefixes(ngram).filter_map(|prefix| model.get(prefix)).last();
    known.copied().unwrap_or(UNKNOWN_LETTER)
}

/// The prefixes of an n-gram, shortest first, itself last.
fn prefixes(ngram: &str) -> impl Iterator<Item = &str> {
    ngram.char_indices().map(|(at, letter)| &ngram[..at + letter.len_utf8()])
}

fn quantised(weights: &[f64]) -> Weights {
    let mut quantised = [0; LANES];
    for (lane, weight) in quantised.iter_mut().zip(weights) {
        *lane = (weight * WEIGHT_SCALE).round().clamp(-127.0, 127.0) as i8;
    }
    quantised
}

/// The rows as the file holds them, in the order of their keys so that equal input makes equal files.
fn encode(rows: Vec<(String, Weights)>) -> Vec<u8> {
    let mut by_key: Vec<(u32, Weights)> = rows
        .into_iter()
        .map(|(ngram, weights)| (ngram.chars().fold(Key::EMPTY, Key::with).stored(), weights))
        .collect();
    by_key.sort_unstable();
    assert!(
        by_key.windows(2).all(|pair| pair[0].0 != pair[1].0),
        "two n-grams share a key: change the hash"
    );
    let row = |(key, weights): (u32, Weights)| {
        key.to_le_bytes().into_iter().chain(weights.map(|weight| weight.to_le_bytes()[0]))
    };
    by_key.into_iter().flat_map(row).collect()
}
