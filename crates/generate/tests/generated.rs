//! Generated data: the same every time, joined by its keys, and dirty in the right places.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use caudal_core::Coded;
use caudal_generate::{SUITES, demo_params, generate};

const SCALE: f64 = 0.001;

type Rows = Vec<csv::StringRecord>;

fn generated(suite: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    generate(suite, SCALE, 42, folder.path(), &|_| {}).unwrap();
    folder
}

/// Every record of a file after its header, whatever its number of fields.
fn rows(folder: &Path, file: &str) -> Rows {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(folder.join(file)).unwrap();
    reader.records().map(Result::unwrap).collect()
}

fn field_counts(rows: &Rows) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(row.len()).or_default() += 1;
    }
    counts
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                contents.insert(name, fs::read(path).unwrap());
            }
        }
    }
    contents
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for suite in SUITES {
        let [first, again, other] = [1, 1, 2].map(|seed| {
            let folder = tempfile::tempdir().unwrap();
            let summary = generate(suite, SCALE, seed, folder.path(), &|_| {}).unwrap();
            let contents = contents(folder.path());
            let bytes: usize = contents.values().map(Vec::len).sum();
            assert_eq!(summary.bytes(), bytes as u64);
            assert_eq!(summary.files.len(), contents.len());
            contents
        });
        assert!(first == again, "{suite} differs from itself");
        assert!(first != other, "{suite} does not depend on the seed");
    }
}

#[test]
fn steam_has_a_lying_header_and_reviews_with_gaps() {
    let folder = generated("steam");
    let games = rows(folder.path(), "games.csv");
    assert_eq!(field_counts(&games), BTreeMap::from([(40, 974)]));
    let header = fs::read_to_string(folder.path().join("games.csv")).unwrap();
    assert_eq!(header.lines().next().unwrap().split(',').count(), 39);
    assert!(games.iter().any(|game| !game[2].contains(',')), "a date without its day");
    assert!(games.iter().any(|game| game[36].is_empty()), "a game without a genre");
    let ids: HashSet<&str> = games.iter().map(|game| &game[0]).collect();
    assert_eq!(ids.len(), games.len());

    let reviews = rows(folder.path(), "reviews.csv");
    assert_eq!(field_counts(&reviews), BTreeMap::from([(5, 6417)]));
    assert!(reviews.iter().any(|review| review[1].is_empty()), "an empty name");
    assert!(reviews.iter().any(|review| review[2].is_empty()), "an empty text");
    assert!(reviews.iter().any(|review| review[2].contains('\n')), "a line break");
    assert!(reviews.iter().any(|review| review[2].contains('"')), "a quote");
    let known = reviews.iter().filter(|review| ids.contains(&review[0])).count();
    assert!(known > 6000 && known < reviews.len(), "{known} of known games");
    let negative = reviews.iter().filter(|review| &review[3] == "-1").count();
    assert!((600..2000).contains(&negative), "{negative} negative");
}

#[test]
fn movies_have_broken_rows_repeated_ids_and_long_casts() {
    let folder = generated("movies");
    let movies = rows(folder.path(), "movies_metadata.csv");
    assert_eq!(field_counts(&movies), BTreeMap::from([(10, 3), (15, 3), (24, 452)]));
    let second_halves = movies.iter().filter(|row| row.len() == 15);
    assert!(second_halves.into_iter().all(|row| row[5].is_empty() || row[5].contains('-')));
    let whole: Vec<_> = movies.iter().filter(|row| row.len() == 24).collect();
    let ids: HashSet<&str> = whole.iter().map(|movie| &movie[5]).collect();
    assert!(ids.len() < whole.len(), "an id that appears twice");
    assert!(whole.iter().any(|movie| movie[15].ends_with(".0") && &movie[15] != "0.0"));
    assert!(whole.iter().any(|movie| movie[13].contains("\"Cote D'Ivoire\"")));
    let both = |movie: &&&csv::StringRecord| {
        movie[13].contains("Argentina")
            && movie[13].contains("Spain")
            && movie[14].starts_with("200")
    };
    assert!(whole.iter().filter(both).count() >= 3, "films of 2000-2009 by Argentina and Spain");

    let credits = rows(folder.path(), "credits.csv");
    assert_eq!(field_counts(&credits), BTreeMap::from([(3, 455)]));
    assert!(credits.iter().any(|row| row[1].len() > 128 << 10), "a field over 128 KiB");
    assert!(credits.iter().any(|row| row[0].contains("None")), "a None");
    assert!(credits.iter().any(|row| row[0].contains("\"Farmer's Wife\"")), "an apostrophe");

    let ratings = rows(folder.path(), "ratings.csv");
    assert_eq!(field_counts(&ratings), BTreeMap::from([(4, 26024)]));
    let known = ratings.iter().filter(|rating| ids.contains(&rating[1])).count();
    assert!(known > 20_000 && known < ratings.len(), "{known} of known films");
    assert!(ratings.iter().all(|rating| (rating[2].parse::<f64>().unwrap() * 2.0).fract() == 0.0));
}

#[test]
fn books_have_a_short_row_and_every_form_of_date() {
    let folder = generated("books");
    let books = rows(folder.path(), "books_data.csv");
    assert_eq!(field_counts(&books), BTreeMap::from([(2, 1), (10, 2123)]));
    let whole: Vec<_> = books.iter().filter(|book| book.len() == 10).collect();
    let titles: HashSet<&str> = books.iter().map(|book| &book[0]).collect();
    assert_eq!(titles.len(), books.len());
    for form in ["1996", "1996-01-01", "1996-01", "1996*", "1/1/96", ""] {
        let shape = |date: &str| date.replace(|c: char| c.is_ascii_digit(), "9");
        let same = |date: &str| shape(date).replace("99/", "9/") == shape(form);
        assert!(whole.iter().any(|book| same(&book[6])), "a date like {form:?}");
    }
    assert!(whole.iter().any(|book| book[2].contains(", Jr.")), "a junior");
    assert!(whole.iter().any(|book| book[2].contains("\"")), "an apostrophe");
    let distributed = |book: &&&csv::StringRecord| {
        book[0].to_lowercase().contains("distributed") && &book[8] == "['Computers']"
    };
    assert!(whole.iter().filter(distributed).count() >= 5);

    let reviews = rows(folder.path(), "Books_rating.csv");
    assert_eq!(field_counts(&reviews), BTreeMap::from([(10, 3000)]));
    assert!(reviews.iter().any(|review| review[1].is_empty()), "a review of nothing");
    let known = reviews.iter().filter(|review| titles.contains(&review[1])).count();
    assert!(known > 2900 && known < reviews.len());
}

#[test]
fn coffee_adds_up() {
    let folder = generated("coffee");
    let months = |table: &str| -> Vec<Rows> {
        let mut files: Vec<_> = fs::read_dir(folder.path().join(table))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        files.iter().map(|file| rows(folder.path(), &format!("{table}/{file}"))).collect()
    };
    let cents = |text: &str| (text.parse::<f64>().unwrap() * 100.0).round() as i64;
    let (transactions, items, users) =
        (months("transactions"), months("transaction_items"), months("users"));
    assert_eq!([transactions.len(), items.len(), users.len()], [24, 24, 24]);

    let mut registered = 0;
    for ((transactions, items), users) in transactions.iter().zip(&items).zip(&users) {
        registered += users.len() as u64;
        assert_eq!(field_counts(transactions), BTreeMap::from([(9, 625)]));
        let mut sums: HashMap<&str, i64> = HashMap::new();
        for item in items {
            assert_eq!(cents(&item[2]) * cents(&item[3]), cents(&item[4]) * 100);
            *sums.entry(&item[0]).or_default() += cents(&item[4]);
        }
        assert_eq!(sums.len(), transactions.len());
        for row in transactions {
            assert_eq!(sums[&row[0]], cents(&row[5]));
            assert_eq!(cents(&row[5]) - cents(&row[6]), cents(&row[7]));
            if let Some(user) = row[4].strip_suffix(".0") {
                assert!((1..=registered).contains(&user.parse().unwrap()));
            } else {
                assert!(row[4].is_empty());
            }
        }
        let sorted = transactions.windows(2).all(|pair| pair[0][8] <= pair[1][8]);
        assert!(!sorted, "nothing is sorted");
    }
    assert_eq!(registered, 2200);
    let known = |row: &csv::StringRecord| !row[4].is_empty();
    let all: Vec<_> = transactions.iter().flatten().collect();
    assert!(all.iter().any(|row| known(row)) && all.iter().any(|row| !known(row)));
    assert!(all.iter().any(|row| row[8].ends_with("23:00:00")), "the edge of the day");
    assert!(all.iter().any(|row| cents(&row[7]) % 10 != 0), "two decimals");
}

#[test]
fn what_cannot_be_generated_has_a_code() {
    let folder = tempfile::tempdir().unwrap();
    let code = |suite, scale| generate(suite, scale, 1, folder.path(), &|_| {}).unwrap_err().code();
    assert_eq!(code("weather", 1.0), "CDL-1101");
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(code("steam", scale), "CDL-1118");
    }
}

#[test]
fn parameters_grow_with_the_scale_up_to_the_suites_defaults() {
    assert_eq!(demo_params("steam", 0.001), ["min_reviews=5"]);
    assert_eq!(demo_params("steam", 3.0), ["min_reviews=5000"]);
    assert_eq!(demo_params("books", 0.001), ["min_reviews=5", "min_decades=6"]);
    assert!(demo_params("coffee", 1.0).is_empty());
}
