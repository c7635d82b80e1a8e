//! Are two results the same? And if not, where do they differ?
//!
//! Columns are matched by name, rows as a multiset, or in order when asked. Cells are matched as text
//! or, where both are numbers, as numbers: see [`cell`] for how closely. What differs is said
//! precisely, in bounded space.

mod cell;
mod difference;
mod folders;
mod rows;
mod table;

use std::path::{Path, PathBuf};

use caudal_core::{Code, Coded, codes};

pub use cell::RELATIVE_TOLERANCE;
pub use difference::{CellDifference, Difference, Sample};
pub use folders::{Report, compare_dirs};
use table::Table;

/// Whether the order of rows matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Rows are compared as a multiset.
    Any,
    /// Rows are compared one by one.
    AsGiven,
}

/// Outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The results are the same.
    Same {
        /// Number of their rows.
        rows: usize,
    },
    /// They are not, and where they differ.
    Different(Box<Difference>),
    /// It was expected, and there is no such result.
    Missing,
    /// There is such a result, and nothing to compare it with.
    NotExpected,
}

/// Compares two CSV files.
pub fn compare_files(actual: &Path, expected: &Path, order: Order) -> Result<Outcome, Error> {
    let actual = Table::read(actual)?;
    let expected = Table::read(expected)?;
    Ok(match compare(&actual, &expected, order) {
        Ok(rows) => Outcome::Same { rows },
        Err(difference) => Outcome::Different(difference),
    })
}

/// Number of rows of two tables, if they are the same.
fn compare(actual: &Table, expected: &Table, order: Order) -> Result<usize, Box<Difference>> {
    let columns = actual.columns_like(expected)?;
    match order {
        Order::Any => rows::as_multisets(actual, expected, &columns)?,
        Order::AsGiven => rows::in_order(actual, expected, &columns)?,
    }
    Ok(expected.rows.len())
}

/// Reason why results cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot read {path}: {source}", path = path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{path} is not a CSV result: {source}", path = path.display())]
    NotCsv { path: PathBuf, source: csv::Error },
    #[error("no expected results in {folder}", folder = folder.display())]
    NothingExpected { folder: PathBuf },
}

impl Coded for Error {
    fn code(&self) -> Code {
        match self {
            Self::Unreadable { .. } => codes::RESULTS_UNREADABLE,
            Self::NotCsv { .. } => codes::RESULT_NOT_CSV,
            Self::NothingExpected { .. } => codes::NOTHING_EXPECTED,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NothingExpected { .. } => {
                Some("expected results are one .csv file per query, named after it".to_string())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(actual: &str, expected: &str, order: Order) -> Result<usize, Box<Difference>> {
        compare(&Table::parse(actual), &Table::parse(expected), order)
    }

    #[test]
    fn rows_and_columns_may_stand_in_any_order() {
        let expected = "id,name\n1,a\n2,b\n2,b\n";
        assert_eq!(same("name,id\nb,2\na,1\nb,2\n", expected, Order::Any).unwrap(), 3);
        assert!(same("id,name\n2,b\n1,a\n1,a\n", expected, Order::Any).is_err());
        assert!(same("id,name\n2,b\n1,a\n2,b\n", expected, Order::AsGiven).is_err());
        assert_eq!(same("name,id\na,1\nb,2\nb,2\n", expected, Order::AsGiven).unwrap(), 3);
    }

    #[test]
    fn columns_must_be_the_same_ones() {
        let difference = same("id,nome\n", "id,name,price\n", Order::Any).unwrap_err();
        assert_eq!(difference.to_string(), "columns missing: name, price; not expected: nome");
    }

    #[test]
    fn empty_results_are_the_same() {
        assert_eq!(same("a,b\n", "a,b\n", Order::Any).unwrap(), 0);
        assert!(same("a,b\n1,2\n", "a,b\n", Order::Any).is_err());
    }

    #[test]
    fn a_difference_in_order_names_row_and_column() {
        let difference = same("id,n\n1,5\n2,7\n", "id,n\n1,5\n2,6\n", Order::AsGiven).unwrap_err();
        assert_eq!(difference.to_string(), "row 2, column n: expected 6, got 7");
    }

    #[test]
    fn a_missing_row_is_shown_with_the_one_it_resembles() {
        let difference = same("id,n,m\n1,5,x\n2,7,y\n", "id,n,m\n2,6,y\n1,5,x\n", Order::Any);
        assert_eq!(
            difference.unwrap_err().to_string(),
            "1 row missing, 1 not expected\n\
             \x20 missing: 2, 6, y\n\
             \x20 not expected: 2, 7, y\n\
             \x20 nearest to the first missing row: column n: expected 6, got 7"
        );
    }

    #[test]
    fn the_account_of_many_differences_is_short() {
        let many = |offset: i32| {
            let rows = (0..5000).map(|n| format!("{}\n", n + offset));
            "n\n".to_string() + &rows.collect::<String>()
        };
        let account = same(&many(0), &many(100_000), Order::Any).unwrap_err().to_string();
        assert!(account.starts_with("5000 rows missing, 5000 not expected"));
        assert!(account.contains("and 4995 more"));
        assert!(account.len() < 2000, "{account}");
    }

    #[test]
    fn float_noise_is_no_difference_in_any_number_of_rows() {
        let noisy = |noise: f64| {
            let rows = (1..3000).map(|n| format!("a,{}\n", f64::from(n) / 7.0 * (1.0 + noise)));
            "k,v\n".to_string() + &rows.rev().collect::<String>()
        };
        assert_eq!(same(&noisy(1e-13), &noisy(0.0), Order::Any).unwrap(), 2999);
        assert!(same(&noisy(1e-6), &noisy(0.0), Order::Any).is_err());
    }

    #[test]
    fn noise_across_a_rounding_border_is_found_too() {
        let (below, above) = ("k\n1.23456788499999\n", "k\n1.234567885\n");
        assert_eq!(same(below, above, Order::Any).unwrap(), 1);
    }
}
