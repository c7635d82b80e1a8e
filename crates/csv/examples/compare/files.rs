//! Files to read: the large table of each suite, and the columns that its questions need.

use std::fs::File;
use std::path::{Path, PathBuf};

use caudal_csv::Type;

/// A generated file.
pub struct TestFile {
    suite: &'static str,
    scale: f64,
    path: &'static str,
    columns: &'static [(&'static str, Type)],
}

pub const FILES: [TestFile; 4] = [
    TestFile {
        suite: "steam",
        scale: 0.04,
        path: "reviews.csv",
        columns: &[
            ("app_id", Type::Int64),
            ("review_text", Type::Text),
            ("review_score", Type::Int64),
        ],
    },
    TestFile {
        suite: "movies",
        scale: 0.1,
        path: "ratings.csv",
        columns: &[("movieId", Type::Int64), ("rating", Type::Float64)],
    },
    TestFile {
        suite: "books",
        scale: 0.04,
        path: "Books_rating.csv",
        columns: &[
            ("Title", Type::Text),
            ("review/score", Type::Float64),
            ("review/text", Type::Text),
        ],
    },
    TestFile {
        suite: "coffee",
        scale: 0.1,
        path: "transaction_items/transaction_items_202401.csv",
        columns: &[
            ("item_id", Type::Int64),
            ("quantity", Type::Int64),
            ("subtotal", Type::Float64),
            ("created_at", Type::Timestamp),
        ],
    },
];

/// A file that is there, and what is wanted of it.
pub struct Work {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// All names of its header.
    pub header: Vec<String>,
    /// Places of the wanted columns, ascending, and their types.
    pub columns: Vec<(usize, Type)>,
}

impl TestFile {
    /// Generates it, unless it is there already.
    pub fn open(&self, folder: &Path) -> Result<Work, Box<dyn std::error::Error>> {
        let folder = folder.join(format!("{}-{}", self.suite, self.scale));
        let path = folder.join(self.path);
        if !path.exists() {
            caudal_generate::generate(self.suite, self.scale, 1, &folder, &|_| {})?;
        }
        let header = csv::Reader::from_path(&path)?.headers()?.clone();
        let header: Vec<String> = header.iter().map(str::to_string).collect();
        let place = |name: &str| header.iter().position(|header| header == name);
        let columns = self.columns.iter().map(|(name, ty)| Some((place(name)?, *ty)));
        let columns: Option<Vec<(usize, Type)>> = columns.collect();
        let mut columns = columns.ok_or_else(|| format!("not the columns of {}", self.path))?;
        columns.sort_by_key(|(at, _)| *at);
        let bytes = File::open(&path)?.metadata()?.len();
        Ok(Work { name: format!("{} {}", self.suite, self.path), path, bytes, header, columns })
    }
}

impl Work {
    pub fn columns_text(&self) -> String {
        let text = |(at, ty): &(usize, Type)| format!("{} {ty}", self.header[*at]);
        self.columns.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}
