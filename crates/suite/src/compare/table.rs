//! A CSV result in memory.

use std::path::Path;

use super::Error;
use super::difference::Difference;

#[derive(Debug)]
pub(super) struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<csv::StringRecord>,
}

impl Table {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path)
            .map_err(|source| Error::Unreadable { path: path.to_path_buf(), source })?;
        Self::from_csv(&bytes).map_err(|source| Error::NotCsv { path: path.to_path_buf(), source })
    }

    fn from_csv(bytes: &[u8]) -> Result<Self, csv::Error> {
        let mut reader = csv::Reader::from_reader(bytes);
        Ok(Self {
            columns: reader.headers()?.iter().map(str::to_string).collect(),
            rows: reader.into_records().collect::<Result<_, _>>()?,
        })
    }

    /// For each of our columns in the order of `expected`'s, its index in ours.
    pub(super) fn columns_like(&self, expected: &Table) -> Result<Vec<usize>, Box<Difference>> {
        let beyond = |of: &Table, other: &Table| -> Vec<String> {
            let names = of.columns.iter().filter(|name| !other.columns.contains(name));
            names.cloned().collect()
        };
        let position = |name: &String| self.columns.iter().position(|column| column == name);
        let columns: Option<Vec<usize>> = expected.columns.iter().map(position).collect();
        match columns {
            Some(columns) if self.columns.len() == expected.columns.len() => Ok(columns),
            _ => Err(Box::new(Difference::Columns {
                missing: beyond(expected, self),
                unexpected: beyond(self, expected),
            })),
        }
    }

    #[cfg(test)]
    pub(super) fn parse(text: &str) -> Self {
        Self::from_csv(text.as_bytes()).unwrap()
    }
}
