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
        if !(ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.equals(b))) {
            return Err(format!("row {at}: {ours:?} where DataFusion has {theirs:?}"));
        }
    }
    Ok(ours.len())
}
