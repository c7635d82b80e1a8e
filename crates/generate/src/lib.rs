//! Data of the four suites, at any scale, from a seed.
//!
//! Scale 1 is about the volume of the public datasets; 0.01 is for tests, less for a demo. The same
//! suite, scale and seed give the same bytes on any number of threads, because every row is drawn from
//! a generator of its own, seeded by its table and its number. Memory does not grow with the scale.
//!
//! The data is made so that each question of its suite has an answer worth looking at, and so that it
//! hurts in the same places as the real files: each suite's module says which.
//!
//! Fact tables (reviews, ratings, transactions) follow the scale all the way down. What they refer to
//! (games, films, books) stops at a hundredth: below that, "Argentine films of 2000-2009" would be none.

mod blocks;
mod books;
mod coffee;
mod literal;
mod movies;
mod people;
mod prose;
mod random;
mod record;
mod steam;
mod words;

use std::path::{Path, PathBuf};

use blocks::Output;
use caudal_core::{Code, Coded, codes};

/// The suites that can be generated.
pub const SUITES: [&str; 4] = ["steam", "movies", "books", "coffee"];

/// Below this scale, the tables that others refer to stop shrinking.
const DIMENSION_SCALE_MIN: f64 = 0.01;

/// Files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub files: Vec<WrittenFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    pub path: PathBuf,
    pub bytes: u64,
}

impl Summary {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Writes the data of `suite` into the folder `out`, which is created if need be; files of the same
/// names are replaced. `progress` is told, from any thread, how many bytes were just written.
pub fn generate(
    suite: &str,
    scale: f64,
    seed: u64,
    out: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Summary, Error> {
    if !scale.is_finite() || scale <= 0.0 {
        return Err(Error::BadScale { scale });
    }
    let mut output = Output::new(out, progress);
    let size = Size { scale, seed };
    match suite {
        "steam" => steam::write(size, &mut output)?,
        "movies" => movies::write(size, &mut output)?,
        "books" => books::write(size, &mut output)?,
        "coffee" => coffee::write(size, &mut output)?,
        _ => return Err(Error::NoSuchSuite { name: suite.to_string() }),
    }
    Ok(output.finish())
}

/// Parameters (`name=value`) with which the questions of `suite` have interesting answers on data of
/// this scale; where the suite's own defaults do, none.
pub fn demo_params(suite: &str, scale: f64) -> Vec<String> {
    let scaled = |full: f64, least: f64| (full * scale).round().max(least).min(full);
    match suite {
        "steam" => vec![format!("min_reviews={}", scaled(5000.0, 4.0))],
        "books" => vec![
            format!("min_reviews={}", scaled(500.0, 5.0)),
            format!("min_decades={}", if scale < 0.1 { 6 } else { 10 }),
        ],
        _ => Vec::new(),
    }
}

/// Amount of data to generate, and which of all possible data.
#[derive(Debug, Clone, Copy)]
struct Size {
    scale: f64,
    seed: u64,
}

impl Size {
    fn facts(&self, full: u64) -> u64 {
        ((full as f64 * self.scale).round() as u64).max(1)
    }

    fn dimension(&self, full: u64) -> u64 {
        (full as f64 * self.scale.max(DIMENSION_SCALE_MIN)).round() as u64
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("there is no data to generate for a suite `{name}`")]
    NoSuchSuite { name: String },
    #[error("scale {scale} is not a number above zero")]
    BadScale { scale: f64 },
    #[error("cannot write {path}: {source}", path = path.display())]
    CannotWrite { path: PathBuf, source: std::io::Error },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Self::NoSuchSuite { .. } => codes::NO_SUCH_SUITE,
            Self::BadScale { .. } => codes::BAD_SCALE,
            Self::CannotWrite { .. } => codes::DATA_UNWRITABLE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchSuite { .. } => Some(format!("name one of {}", SUITES.join(", "))),
            Self::BadScale { .. } => Some("1 is the full volume, 0.01 a hundredth".to_string()),
            Self::CannotWrite { .. } => None,
        }
    }
}
