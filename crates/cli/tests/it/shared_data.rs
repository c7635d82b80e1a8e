//! The four suites on real extracts: the answers worked out in plain Python, with none of our code.

use std::path::{Path, PathBuf};

use caudal_suite::compare::{Order, Outcome, compare_files};

use crate::place::Place;

/// The folder beside the project with real data, where there is one.
fn shared() -> Option<PathBuf> {
    let test = "the program on real data";
    caudal_testing::shared(test, "data").and_then(|_| caudal_testing::shared(test, "expected"))?;
    caudal_testing::shared(test, "")
}

struct DataSet {
    name: &'static str,
    suite: &'static str,
    params: &'static [&'static str],
    /// Results whose file is to be the same as the expected one.
    same: &'static [&'static str],
}

const STEAM: DataSet = DataSet {
    name: "steam",
    suite: "steam",
    params: &["--param", "min_reviews=0"],
    same: &["q1", "q2", "q3", "q5"],
};
const MOVIES: DataSet =
    DataSet { name: "movies", suite: "movies", params: &[], same: &["q1", "q2", "q3", "q4"] };
const BOOKS: DataSet = DataSet {
    name: "books",
    suite: "books",
    params: &["--param", "min_reviews=5", "--param", "min_decades=3"],
    same: &["q1", "q2", "q3", "q4", "q5"],
};
const COFFEE_RESULTS: [&str; 5] = ["q1", "q2_best_selling", "q2_most_profitable", "q3", "q4"];
const COFFEE: DataSet =
    DataSet { name: "coffee", suite: "coffee", params: &[], same: &COFFEE_RESULTS };
const COFFEE_10K: DataSet =
    DataSet { name: "coffee-10k", suite: "coffee", params: &[], same: &COFFEE_RESULTS };

impl DataSet {
    /// Runs the suite and checks what is to be the same; the results are in `out`.
    fn check(&self, shared: &Path, options: &[&str]) -> Place {
        let place = Place::new();
        let data = shared.join("data").join(self.name);
        let run = ["run", self.suite, "--data", data.to_str().unwrap(), "--out", "out", "--quiet"];
        place.caudal(&[&run, self.params, options].concat()).answer();
        for result in self.same {
            let actual = place.path(&format!("out/{result}.csv"));
            let expected = shared.join("expected").join(self.name).join(format!("{result}.csv"));
            let outcome = compare_files(&actual, &expected, Order::Any).unwrap();
            let case = format!("{} {result} with {options:?}: {outcome}", self.name);
            assert!(matches!(outcome, Outcome::Same { .. }), "{case}");
        }
        place
    }
}

/// The values of two columns of a CSV file.
fn columns(path: &Path, names: [&str; 2]) -> Vec<[String; 2]> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = names.map(|name| header.iter().position(|column| column == name).unwrap());
    reader.records().map(|row| row.map(|row| at.map(|at| row[at].to_string())).unwrap()).collect()
}

#[test]
fn steam() {
    let Some(shared) = shared() else { return };
    let place = STEAM.check(&shared, &[]);
    let mut actual = columns(&place.path("out/q4.csv"), ["app_id", "name"]);
    let mut expected = columns(&shared.join("expected/steam/q4.csv"), ["app_id", "name"]);
    actual.sort();
    expected.sort();
    assert_eq!(actual, expected);
}

#[test]
fn movies() {
    let Some(shared) = shared() else { return };
    let place = MOVIES.check(&shared, &[]);
    let films = columns(&place.path("out/q5.csv"), ["sentiment", "movies"]);
    let mut labels: Vec<_> = films.iter().map(|[label, _]| label.as_str()).collect();
    labels.sort();
    assert_eq!(labels, ["NEGATIVE", "POSITIVE"]);
    // Films whose overview is neither are in the population and in no answer.
    let population = std::fs::read_to_string(shared.join("expected/movies/q5_population.csv"));
    let population: u64 = population.unwrap().lines().nth(1).unwrap().parse().unwrap();
    let counted: u64 = films.iter().map(|[_, count]| count.parse::<u64>().unwrap()).sum();
    assert!(counted <= population && counted > population * 8 / 10, "{counted} of {population}");
}

#[test]
fn books() {
    let Some(shared) = shared() else { return };
    BOOKS.check(&shared, &[]);
}

#[test]
fn coffee() {
    let Some(shared) = shared() else { return };
    COFFEE.check(&shared, &[]);
    COFFEE_10K.check(&shared, &[]);
}

#[test]
fn however_the_work_is_divided() {
    let Some(shared) = shared() else { return };
    for shards in ["1", "3", "8"] {
        for threads in ["1", "4"] {
            for data in [STEAM, MOVIES, BOOKS, COFFEE, COFFEE_10K] {
                data.check(&shared, &["--shards", shards, "--threads", threads]);
            }
        }
    }
}
