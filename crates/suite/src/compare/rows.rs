//! Matching the rows of one table with those of another.

use std::collections::HashMap;

use caudal_core::limits;
use csv::StringRecord;

use super::cell::Cell;
use super::difference::{CellDifference, Difference, Sample};
use super::table::Table;

pub(super) fn in_order(
    actual: &Table,
    expected: &Table,
    columns: &[usize],
) -> Result<(), Box<Difference>> {
    for (row, (theirs, ours)) in expected.rows.iter().zip(&actual.rows).enumerate() {
        if let Some(cell) = first_difference(ours, theirs, columns, &expected.columns) {
            return Err(Box::new(Difference::Row { row: row + 1, cell }));
        }
    }
    if actual.rows.len() != expected.rows.len() {
        return Err(Box::new(Difference::Length {
            expected: expected.rows.len(),
            actual: actual.rows.len(),
        }));
    }
    Ok(())
}

/// Files the expected rows under rounded keys and takes out one for each actual row. What is left on
/// both sides (rows that differ, and the few that float noise filed elsewhere) is tried pairwise.
pub(super) fn as_multisets(
    actual: &Table,
    expected: &Table,
    columns: &[usize],
) -> Result<(), Box<Difference>> {
    let in_place: Vec<usize> = (0..columns.len()).collect();
    let mut filed: HashMap<String, Vec<usize>> = HashMap::with_capacity(expected.rows.len());
    for (index, row) in expected.rows.iter().enumerate().rev() {
        filed.entry(key(row, &in_place)).or_default().push(index);
    }
    let mut unexpected = Vec::new();
    for ours in &actual.rows {
        let candidates = filed.get_mut(&key(ours, columns));
        let found = candidates.and_then(|candidates| {
            let same = |index: &usize| same_rows(ours, &expected.rows[*index], columns);
            let at = candidates.iter().rposition(same)?;
            Some(candidates.swap_remove(at))
        });
        if found.is_none() {
            unexpected.push(ours);
        }
    }
    let mut missing: Vec<usize> = filed.into_values().flatten().collect();
    missing.sort_unstable();
    let mut missing: Vec<&StringRecord> = missing.iter().map(|i| &expected.rows[*i]).collect();

    if missing.len().saturating_mul(unexpected.len()) <= limits::DIFFERENCE_PAIRS_MAX {
        missing.retain(|theirs| {
            let at = unexpected.iter().position(|ours| same_rows(ours, theirs, columns));
            at.map(|at| unexpected.remove(at)).is_none()
        });
    }
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(());
    }
    Err(Box::new(Difference::Rows {
        nearest: nearest_difference(&missing, &unexpected, columns, &expected.columns),
        missing: Sample::of(&missing, &in_place),
        unexpected: Sample::of(&unexpected, columns),
    }))
}

fn key(row: &StringRecord, columns: &[usize]) -> String {
    let mut key = String::new();
    for column in columns {
        Cell::new(&row[*column]).file_under(&mut key);
    }
    key
}

fn same_rows(ours: &StringRecord, theirs: &StringRecord, columns: &[usize]) -> bool {
    let mut pairs = columns.iter().zip(theirs);
    pairs.all(|(column, theirs)| Cell::new(&ours[*column]).same(Cell::new(theirs)))
}

fn first_difference(
    ours: &StringRecord,
    theirs: &StringRecord,
    columns: &[usize],
    names: &[String],
) -> Option<CellDifference> {
    let mut pairs = columns.iter().zip(theirs).zip(names);
    pairs.find_map(|((column, theirs), name)| {
        let ours = &ours[*column];
        let differ = !Cell::new(ours).same(Cell::new(theirs));
        differ.then(|| CellDifference::new(name, theirs, ours))
    })
}

/// First difference between the first missing row and the unexpected row most like it, if any is like it.
fn nearest_difference(
    missing: &[&StringRecord],
    unexpected: &[&StringRecord],
    columns: &[usize],
    names: &[String],
) -> Option<CellDifference> {
    let theirs = missing.first()?;
    let equal_cells = |ours: &&&StringRecord| {
        let pairs = columns.iter().zip(theirs.iter());
        pairs.filter(|(column, theirs)| Cell::new(&ours[**column]).same(Cell::new(theirs))).count()
    };
    let candidates = unexpected.iter().take(limits::DIFFERENCE_CANDIDATES_MAX);
    let nearest = candidates.max_by_key(equal_cells).filter(|ours| equal_cells(ours) > 0)?;
    first_difference(nearest, theirs, columns, names)
}
