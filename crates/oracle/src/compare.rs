//! Whether two answers are the same.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::array_value_to_string;
use caudal_suite::compare::RELATIVE_TOLERANCE;

/// Times the last digit of a decimal that its quotient may be away: what was computed with cut off numbers has lost
/// more than that digit.
const LAST_DIGITS: f64 = 100.0;

#[derive(Clone, Debug)]
enum Cell {
    Null,
    Text(String),
    Float(f64),
}

impl Cell {
    fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            (Cell::Float(a), Cell::Float(b)) => a.total_cmp(b),
            (a, b) => a.kind().cmp(&b.kind()),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Cell::Null => 0,
            Cell::Text(_) => 1,
            Cell::Float(_) => 2,
        }
    }

    fn equals(&self, other: &Cell) -> bool {
        match (self, other) {
            (Cell::Null, Cell::Null) => true,
            (Cell::Text(a), Cell::Text(b)) => a == b,
            (Cell::Float(a), Cell::Float(b)) => {
                a == b || (a.is_nan() && b.is_nan()) || is_close(*a, *b, 0.0)
            }
            (Cell::Float(quotient), Cell::Text(decimal))
            | (Cell::Text(decimal), Cell::Float(quotient)) => is_cut_off(*quotient, decimal),
            _ => false,
        }
    }
}

/// Whether they differ by the noise of floats, or by no more than is allowed anyway. Nothing is close to infinity.
fn is_close(a: f64, b: f64, allowed: f64) -> bool {
    let noise = RELATIVE_TOLERANCE * a.abs().max(b.abs());
    a.is_finite() && b.is_finite() && (a - b).abs() <= noise.max(allowed)
}

/// Whether the decimal is what DataFusion leaves of a quotient, which to us is a float.
fn is_cut_off(quotient: f64, decimal: &str) -> bool {
    let Ok(cut_off) = decimal.parse::<f64>() else { return false };
    let lost = decimal.split_once('.').map_or(0.0, |(_, digits)| {
        LAST_DIGITS * 10_f64.powi(-i32::try_from(digits.len()).unwrap_or(i32::MAX))
    });
    is_close(quotient, cut_off, lost)
}

fn rows(batches: &[RecordBatch]) -> Vec<Vec<Cell>> {
    let mut rows = vec![];
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cell = |array: &Arc<dyn Array>| match array.data_type() {
                DataType::Float64 if array.is_valid(row) => {
                    Cell::Float(array.as_primitive::<Float64Type>().value(row))
                }
                DataType::Null => Cell::Null,
                _ if array.is_null(row) => Cell::Null,
                _ => Cell::Text(
                    array_value_to_string(array, row).unwrap_or_else(|error| error.to_string()),
                ),
            };
            rows.push(batch.columns().iter().map(cell).collect::<Vec<_>>());
        }
    }
    rows
}

fn are_equal(ours: &[Cell], theirs: &[Cell]) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.equals(b))
}

/// Whether these rows are some of the others, each as often at most: what has come of an answer that never became whole.
pub fn is_part(ours: &[RecordBatch], theirs: &[RecordBatch]) -> Result<usize, String> {
    let (ours, mut left) = (rows(ours), rows(theirs));
    for (at, row) in ours.iter().enumerate() {
        match left.iter().position(|other| are_equal(row, other)) {
            Some(found) => drop(left.swap_remove(found)),
            None => {
                return Err(format!("row {at}: {row:?}, which DataFusion does not have so often"));
            }
        }
    }
    Ok(ours.len())
}

/// Equal as multisets of rows, or row by row.
pub fn compare(
    ours: &[RecordBatch],
    theirs: &[RecordBatch],
    ordered: bool,
) -> Result<usize, String> {
    let (mut ours, mut theirs) = (rows(ours), rows(theirs));
    if ours.len() != theirs.len() {
        return Err(format!("{} rows where DataFusion has {}", ours.len(), theirs.len()));
    }
    if !ordered {
        // Floats last: they may differ in their last digits, and must not decide the order.
        let key = |a: &Vec<Cell>, b: &Vec<Cell>| {
            let texts = |row: &Vec<Cell>| {
                row.iter()
                    .filter(|cell| !matches!(cell, Cell::Float(_)))
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let floats = |row: &Vec<Cell>| {
                row.iter()
                    .filter(|cell| matches!(cell, Cell::Float(_)))
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let by = |a: Vec<Cell>, b: Vec<Cell>| {
                let order = a.iter().zip(&b).map(|(a, b)| a.order(b));
                order.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
            };
            by(texts(a), texts(b)).then(by(floats(a), floats(b)))
        };
        ours.sort_by(key);
        theirs.sort_by(key);
    }
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        if !are_equal(ours, theirs) {
            return Err(format!("row {at}: {ours:?} where DataFusion has {theirs:?}"));
        }
    }
    Ok(ours.len())
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, StringArray};

    use super::*;

    fn batch(columns: Vec<ArrayRef>) -> Vec<RecordBatch> {
        let names = ["a", "b", "c"].into_iter();
        vec![RecordBatch::try_from_iter(names.zip(columns)).unwrap()]
    }

    fn rows(rows: &[(i64, Option<&str>)]) -> Vec<RecordBatch> {
        let numbers: Int64Array = rows.iter().map(|(number, _)| Some(*number)).collect();
        let texts: StringArray = rows.iter().map(|(_, text)| *text).collect();
        batch(vec![Arc::new(numbers), Arc::new(texts)])
    }

    fn floats(values: &[f64]) -> Vec<RecordBatch> {
        batch(vec![Arc::new(Float64Array::from(values.to_vec()))])
    }

    /// Decimals with four digits after the point.
    fn decimals(units: &[i128]) -> Vec<RecordBatch> {
        let decimals = Decimal128Array::from_iter_values(units.iter().copied());
        batch(vec![Arc::new(decimals.with_precision_and_scale(20, 4).unwrap())])
    }

    fn same(a: &[RecordBatch], b: &[RecordBatch]) -> bool {
        let is_same = compare(a, b, false).is_ok();
        assert_eq!(is_same, compare(b, a, false).is_ok());
        is_same
    }

    #[test]
    fn order_counts_where_there_is_one() {
        let one = rows(&[(1, Some("a")), (2, None), (2, None), (1, Some("b"))]);
        let other = rows(&[(2, None), (1, Some("b")), (1, Some("a")), (2, None)]);
        assert_eq!(compare(&one, &other, false), Ok(4));
        assert_eq!(compare(&one, &one, true), Ok(4));
        assert!(compare(&one, &other, true).unwrap_err().starts_with("row 0: "));
        // Batches are no part of an answer.
        let halves = [one[0].slice(0, 3), one[0].slice(3, 1), one[0].slice(0, 0)];
        assert_eq!(compare(&halves, &one, true), Ok(4));
        assert_eq!(compare(&[], &halves[2..], true), Ok(0));
    }

    #[test]
    fn rows_that_are_wrong_missing_or_too_many_are_found() {
        let right = rows(&[(1, Some("a")), (2, Some("b")), (2, Some("b"))]);
        assert!(!same(&rows(&[(1, Some("a")), (2, Some("b")), (2, Some("c"))]), &right));
        assert!(!same(&rows(&[(1, Some("a")), (1, Some("a")), (2, Some("b"))]), &right));
        assert!(!same(&rows(&[(1, Some("b")), (2, Some("a")), (2, Some("b"))]), &right));
        let difference = compare(&right[..0], &right, false).unwrap_err();
        assert_eq!(difference, "0 rows where DataFusion has 3");
        assert!(!same(&[right[0].slice(0, 2)], &right));
        // A column too many.
        assert!(!same(&batch(vec![Arc::clone(right[0].column(0))]), &right));
    }

    #[test]
    fn null_is_no_text_and_no_number() {
        assert!(!same(&rows(&[(1, None)]), &rows(&[(1, Some("NULL"))])));
        assert!(!same(&rows(&[(1, None)]), &rows(&[(1, Some(""))])));
        let null = batch(vec![Arc::new(Float64Array::from(vec![None::<f64>]))]);
        assert!(same(&null, &batch(vec![Arc::new(StringArray::from(vec![None::<&str>]))])));
        assert!(!same(&null, &floats(&[0.0])));
        assert!(!same(&null, &floats(&[f64::NAN])));
    }

    #[test]
    fn the_noise_of_floats_is_forgiven_and_no_more() {
        assert!(same(&floats(&[0.1 + 0.2, 1e20]), &floats(&[1e20 * (1.0 + 5e-10), 0.3])));
        assert!(!same(&floats(&[1.0 + 2e-9]), &floats(&[1.0])));
        assert!(!same(&floats(&[1e-12]), &floats(&[0.0])));
        assert!(same(&floats(&[-0.0]), &floats(&[0.0])));
        assert!(same(&floats(&[f64::NAN, 1.0]), &floats(&[1.0, f64::NAN])));
        assert!(!same(&floats(&[f64::NAN]), &floats(&[1.0])));
        let infinity = floats(&[f64::INFINITY]);
        assert!(same(&infinity, &infinity));
        assert!(!same(&infinity, &floats(&[f64::NEG_INFINITY])));
        assert!(!same(&infinity, &floats(&[1e300])));
    }

    #[test]
    fn a_quotient_may_be_a_decimal_that_is_cut_off() {
        let thirds = floats(&[1.0 / 3.0, 200.0 / 3.0]);
        assert!(same(&thirds, &decimals(&[3333, 666_666])));
        assert!(same(&thirds, &decimals(&[3400, 666_600])));
        assert!(!same(&thirds, &decimals(&[3500, 666_666])));
        assert!(!same(&floats(&[f64::INFINITY]), &decimals(&[3333])));
        // What has no digits to lose has lost none.
        let whole = rows(&[(67, None)])[0].project(&[0]).unwrap();
        assert!(same(&floats(&[67.0]), std::slice::from_ref(&whole)));
        assert!(!same(&floats(&[66.7]), std::slice::from_ref(&whole)));
        assert!(!same(&floats(&[0.5]), &batch(vec![Arc::new(StringArray::from(vec!["half"]))])));
    }

    fn pairs(rows: &[(i64, f64)]) -> RecordBatch {
        let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
        let sums: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.1)));
        RecordBatch::try_from_iter([("k", keys), ("s", sums)]).unwrap()
    }

    #[test]
    fn a_part_has_each_row_as_often_at_most() {
        let whole = [pairs(&[(1, 0.5), (2, 0.1 + 0.2)]), pairs(&[(1, 0.5)])];
        assert_eq!(is_part(&[], &whole), Ok(0));
        assert_eq!(is_part(&[pairs(&[(2, 0.3), (1, 0.5), (1, 0.5)])], &whole), Ok(3));
        assert!(is_part(&[pairs(&[(2, 0.3), (2, 0.3)])], &whole).is_err());
        assert!(is_part(&[pairs(&[(1, 0.6)])], &whole).is_err());
        assert!(is_part(&[pairs(&[(3, 0.5)])], &[]).is_err());
    }
}
