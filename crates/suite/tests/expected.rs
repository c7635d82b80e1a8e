//! The suites' SQL gives the right answers: on the real extracts, against answers that were worked out
//! in plain Python; and on generated data, where every question must have something to say.

#![allow(clippy::unwrap_used)]

mod oracle;

use std::fs;
use std::path::Path;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use caudal_suite::compare::{Order, Outcome, compare_dirs, compare_files};
use caudal_suite::{NAMES, Suite};
use caudal_testing::shared;
use oracle::Oracle;

/// Runs a suite on an extract and compares all its results with the expected ones, in order where the
/// question states one.
async fn check(suite: &str, extract: &str, params: &[&str], adjust: impl Fn(&Path)) {
    let test = "a suite on real data";
    let Some(data) = shared(test, &format!("data/{extract}")) else { return };
    let Some(reference) = shared(test, &format!("expected/{extract}")) else { return };
    let (results, expected) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for entry in fs::read_dir(reference).unwrap() {
        let entry = entry.unwrap();
        fs::write(expected.path().join(entry.file_name()), fs::read(entry.path()).unwrap())
            .unwrap();
    }
    adjust(expected.path());

    let suite = Suite::builtin(suite).unwrap();
    let params: Vec<String> = params.iter().map(ToString::to_string).collect();
    let oracle = Oracle::new(&suite, &data, &params);
    for query in &suite.queries {
        oracle.write_answer(query, results.path()).await;
        let file = format!("{}.csv", query.name);
        let (ours, theirs) = (results.path().join(&file), expected.path().join(&file));
        if query.sql.contains("\nORDER BY") {
            let outcome = compare_files(&ours, &theirs, Order::AsGiven).unwrap();
            assert!(matches!(outcome, Outcome::Same { .. }), "{extract} {file}: {outcome}");
        }
    }
    let report = compare_dirs(results.path(), expected.path(), Order::Any).unwrap();
    assert!(report.passed(), "{extract}:\n{report}");
}

#[tokio::test]
async fn steam() {
    // The expected file also counts the reviews by which each game was chosen.
    let without_counts = |expected: &Path| {
        let path = expected.join("q4.csv");
        let text = fs::read_to_string(&path).unwrap();
        let names = text.lines().map(|line| {
            let fields: Vec<&str> = line.rsplitn(3, ',').collect();
            fields[2].to_string() + "\n"
        });
        fs::write(&path, names.collect::<String>()).unwrap();
    };
    check("steam", "steam", &["min_reviews=0"], without_counts).await;
}

#[tokio::test]
async fn movies() {
    let without_population = |expected: &Path| {
        fs::remove_file(expected.join("q5_population.csv")).unwrap();
    };
    check("movies", "movies", &[], without_population).await;
}

#[tokio::test]
async fn movies_q5_looks_at_the_right_films() {
    let test = "the films of movies q5";
    let Some(data) = shared(test, "data/movies") else { return };
    let Some(reference) = shared(test, "expected/movies") else { return };
    let population = fs::read_to_string(reference.join("q5_population.csv")).unwrap();
    let expected: i64 = population.lines().nth(1).unwrap().parse().unwrap();

    let suite = Suite::builtin("movies").unwrap();
    let only_opinions = "sentiment IN ('POSITIVE', 'NEGATIVE')";
    let sql = &suite.select(&["q5"]).unwrap()[0].sql;
    assert!(sql.contains(only_opinions));
    let sql = sql.replace(only_opinions, "true");
    let batches = Oracle::new(&suite, &data, &[]).answer(&sql).await;
    let counted = batches.iter().flat_map(|batch| {
        batch.column_by_name("movies").unwrap().as_primitive::<Int64Type>().values()
    });
    assert_eq!(counted.sum::<i64>(), expected);
}

#[tokio::test]
async fn books() {
    check("books", "books", &["min_reviews=5", "min_decades=3"], |_| {}).await;
}

#[tokio::test]
async fn coffee() {
    check("coffee", "coffee", &[], |_| {}).await;
    check("coffee", "coffee-10k", &[], |_| {}).await;
}

#[tokio::test]
async fn every_question_has_an_answer_on_generated_data() {
    let scale = 0.001;
    for name in NAMES {
        let data = tempfile::tempdir().unwrap();
        caudal_generate::generate(name, scale, 1, data.path(), &|_| {}).unwrap();
        let suite = Suite::builtin(name).unwrap();
        let params = caudal_generate::demo_params(name, scale);
        let oracle = Oracle::new(&suite, data.path(), &params);
        for query in &suite.queries {
            let rows: usize = oracle.answer(&query.sql).await.iter().map(|b| b.num_rows()).sum();
            println!("{name} {}: {rows} rows", query.name);
            assert!(rows > 0, "{name} {} has no answer", query.name);
        }
    }
}
