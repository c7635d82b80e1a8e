//! Whether two answers are the same.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::array_value_to_string;

#[derive(Clone, Debug)]
enum Cell {
    Text(String),
    Float(f64),
}

impl Cell {
    fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            (Cell::Float(a), Cell::Float(b)) => a.total_cmp(b),
            (Cell::Text(_), Cell::Float(_)) => Ordering::Less,
            (Cell::Float(_), Cell::Text(_)) => Ordering::Greater,
        }
    }

    fn equals(&self, other: &Cell) -> bool {
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => a == b,
            (Cell::Float(a), Cell::Float(b)) => {
                a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
            }
            (Cell::Float(quotient), Cell::Text(decimal))
            | (Cell::Text(decimal), Cell::Float(quotient)) => is_cut_off(*quotient, decimal),
        }
    }
}

/// Whether the decimal is what DataFusion leaves of a quotient, which to us is a float.
fn is_cut_off(quotient: f64, decimal: &str) -> bool {
    let Ok(cut_off) = decimal.parse::<f64>() else { return false };
    let digits = decimal.split_once('.').map_or(0, |(_, digits)| digits.len());
    let last_digit = 10_f64.powi(-i32::try_from(digits).unwrap_or(i32::MAX));
    // What was computed with cut off numbers has lost more than its last digit.
    (quotient - cut_off).abs() <= (100.0 * last_digit).max(1e-9 * quotient.abs())
}

fn rows(batches: &[RecordBatch]) -> Vec<Vec<Cell>> {
    let mut rows = vec![];
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cell = |array: &Arc<dyn Array>| match array.data_type() {
                DataType::Float64 if array.is_valid(row) => {
                    Cell::Float(array.as_primitive::<Float64Type>().value(row))
                }
                _ if array.is_null(row) => Cell::Text("NULL".to_string()),
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
                row.iter().filter(|cell| matches!(cell, Cell::Text(_))).cloned().collect::<Vec<_>>()
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
    use arrow::array::{ArrayRef, Float64Array, Int64Array};

    use super::*;

    fn batch(rows: &[(i64, f64)]) -> RecordBatch {
        let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
        let sums: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.1)));
        RecordBatch::try_from_iter([("k", keys), ("s", sums)]).unwrap()
    }

    #[test]
    fn a_part_has_each_row_as_often_at_most() {
        let whole = [batch(&[(1, 0.5), (2, 0.1 + 0.2)]), batch(&[(1, 0.5)])];
        assert_eq!(is_part(&[], &whole), Ok(0));
        assert_eq!(is_part(&[batch(&[(2, 0.3), (1, 0.5), (1, 0.5)])], &whole), Ok(3));
        assert!(is_part(&[batch(&[(2, 0.3), (2, 0.3)])], &whole).is_err());
        assert!(is_part(&[batch(&[(1, 0.6)])], &whole).is_err());
        assert!(is_part(&[batch(&[(3, 0.5)])], &[]).is_err());
    }
}
