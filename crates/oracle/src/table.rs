//! Tables of tests.

use arrow::array::RecordBatch;
use fastrand::Rng;

/// A table, whole. A session cuts it into fragments.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub rows: RecordBatch,
}

/// Fragments of random sizes, some of them empty.
pub fn fragments(rows: &RecordBatch, rows_max: usize, rng: &mut Rng) -> Vec<RecordBatch> {
    let mut fragments = vec![];
    let mut start = 0;
    while start < rows.num_rows() {
        let length = rng.usize(0..=rows_max).min(rows.num_rows() - start);
        fragments.push(rows.slice(start, length));
        start += length;
    }
    fragments
}
