//! Difference of two results, described in bounded space.

use std::fmt;

use caudal_core::limits;
use csv::StringRecord;

/// Difference of two results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Columns that only one side has.
    Columns { missing: Vec<String>, unexpected: Vec<String> },
    /// In order: one is the beginning of the other.
    Length { expected: usize, actual: usize },
    /// In order: the first row (from 1) that differs, and where.
    Row { row: usize, cell: CellDifference },
    /// In any order: rows that only one side has.
    Rows {
        missing: Sample,
        unexpected: Sample,
        /// The first missing row against the unexpected row most like it.
        nearest: Option<CellDifference>,
    },
}

/// One cell, with long texts cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellDifference {
    pub column: String,
    pub expected: String,
    pub actual: String,
}

/// Some rows, and how many there are in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub count: usize,
    pub rows: Vec<String>,
}

impl CellDifference {
    pub(super) fn new(column: &str, expected: &str, actual: &str) -> Self {
        // Long texts often begin alike: show them from shortly before where they part.
        let alike = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
        let skipped = match expected.chars().count().max(actual.chars().count()) {
            length if length <= limits::DIFFERENCE_CHARS_MAX => 0,
            _ => alike.saturating_sub(limits::DIFFERENCE_CHARS_MAX / 3),
        };
        Self {
            column: column.to_string(),
            expected: shown(expected, skipped),
            actual: shown(actual, skipped),
        }
    }
}

impl Sample {
    pub(super) fn of(rows: &[&StringRecord], columns: &[usize]) -> Self {
        let show = |row: &&StringRecord| {
            let cells = columns.iter().map(|column| shown(&row[*column], 0));
            cells.collect::<Vec<_>>().join(", ")
        };
        Self {
            count: rows.len(),
            rows: rows.iter().take(limits::DIFFERENCE_ROWS_MAX).map(show).collect(),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, label: &str) -> fmt::Result {
        for row in &self.rows {
            write!(f, "\n  {label}: {row}")?;
        }
        match self.count - self.rows.len() {
            0 => Ok(()),
            more => write!(f, "\n  {label}: ... and {more} more"),
        }
    }
}

fn shown(text: &str, skipped: usize) -> String {
    if text.is_empty() {
        return "(empty)".to_string();
    }
    let mut rest = text.chars().skip(skipped);
    let mut shown: String = if skipped > 0 { "..." } else { "" }.to_string();
    shown.extend(rest.by_ref().take(limits::DIFFERENCE_CHARS_MAX));
    if rest.next().is_some() {
        shown.push_str("...");
    }
    shown.replace('\n', "\\n")
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns { missing, unexpected } => {
                let list = |label, names: &[String]| match names {
                    [] => None,
                    names => Some(format!("{label}: {}", names.join(", "))),
                };
                let parts = [list("missing", missing), list("not expected", unexpected)];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                match parts.as_slice() {
                    [] => write!(f, "a column appears twice"),
                    parts => write!(f, "columns {}", parts.join("; ")),
                }
            }
            Self::Length { expected, actual } => {
                write!(
                    f,
                    "expected {expected} rows, got {actual}; those that both have are the same"
                )
            }
            Self::Row { row, cell } => write!(f, "row {row}, {cell}"),
            Self::Rows { missing, unexpected, nearest } => {
                let rows = if missing.count == 1 { "row" } else { "rows" };
                let (gone, new) = (missing.count, unexpected.count);
                write!(f, "{gone} {rows} missing, {new} not expected")?;
                missing.write(f, "missing")?;
                unexpected.write(f, "not expected")?;
                match nearest {
                    Some(cell) => write!(f, "\n  nearest to the first missing row: {cell}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for CellDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, expected, actual } = self;
        write!(f, "column {column}: expected {expected}, got {actual}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_where_they_part() {
        let (a, b) = ("x".repeat(500) + "left", "x".repeat(500) + "right");
        let cell = CellDifference::new("text", &a, &b);
        assert!(cell.expected.starts_with("...xxx") && cell.expected.ends_with("xxxleft"));
        assert!(cell.actual.ends_with("xxxright"));
        assert!(cell.expected.chars().count() <= limits::DIFFERENCE_CHARS_MAX + 6);
    }
}
