//! Joins the rows of neighbouring chunks of a file into fragments that are worth a message.
//!
//! What a fragment costs on its way (a message for each shard, a record in each journal) hardly depends on its
//! size. Of a wide table of which few columns are needed a chunk leaves little: several of them make one
//! fragment.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use caudal_core::limits;
use caudal_protocol::size::rows_bytes;

/// Amount of rows that is enough for a fragment.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// Bytes of the rows.
    rows_bytes: usize,
    /// Bytes of the file that they were read from.
    csv_bytes: u64,
}

impl Enough {
    /// A table is divided into fragments enough to keep many workers busy, and no reader holds much.
    pub fn of(rows_bytes: usize, table_bytes: u64) -> Self {
        let csv_bytes =
            (table_bytes / limits::TABLE_FRAGMENTS_MIN).min(limits::GATHER_CSV_BYTES_MAX);
        Self { rows_bytes, csv_bytes }
    }
}

#[derive(Debug, Default)]
pub struct Gathered {
    /// The numbers of the chunks that they are of.
    chunks: Vec<u64>,
    batches: Vec<RecordBatch>,
    rows_bytes: usize,
    csv_bytes: u64,
}

impl Gathered {
    /// Whether a batch has to go without what is gathered: together they might be too large for a message.
    pub fn is_crowded_by(&self, batch: &RecordBatch) -> bool {
        !self.batches.is_empty() && self.rows_bytes + rows_bytes(batch) > limits::GATHER_BYTES_MAX
    }

    pub fn add(&mut self, chunk: u64, batch: RecordBatch, csv_bytes: usize) {
        self.chunks.push(chunk);
        self.rows_bytes += rows_bytes(&batch);
        self.csv_bytes += csv_bytes as u64;
        self.batches.push(batch);
    }

    pub fn is(&self, enough: Enough) -> bool {
        self.rows_bytes >= enough.rows_bytes || self.csv_bytes >= enough.csv_bytes
    }

    /// All of it as one batch, if there is anything, and the chunks that it is of.
    pub fn take(&mut self) -> Option<(Vec<u64>, RecordBatch)> {
        let Self { chunks, batches, .. } = std::mem::take(self);
        Some((chunks, joined(batches)?))
    }
}

/// Batches of one table as one, if there are any.
pub fn joined(mut batches: Vec<RecordBatch>) -> Option<RecordBatch> {
    if batches.len() < 2 {
        return batches.pop();
    }
    let joined = concat_batches(&batches[0].schema(), &batches);
    Some(joined.expect("batches of one table have one schema"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatchOptions};
    use arrow::datatypes::Schema;

    use super::*;

    fn batch(rows: i64) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
        RecordBatch::try_from_iter([("n", numbers)]).unwrap()
    }

    /// The rows of each fragment of a table whose chunks are like this.
    fn fragments(enough: Enough, chunks: usize, rows: i64, csv_bytes: usize) -> Vec<usize> {
        let (mut gathered, mut fragments) = (Gathered::default(), vec![]);
        for _ in 0..chunks {
            if gathered.is_crowded_by(&batch(rows)) {
                fragments.extend(gathered.take());
            }
            gathered.add(0, batch(rows), csv_bytes);
            if gathered.is(enough) {
                fragments.extend(gathered.take());
            }
        }
        fragments.extend(gathered.take());
        fragments.iter().map(|(_, batch)| batch.num_rows()).collect()
    }

    #[test]
    fn chunks_that_leave_little_are_joined_and_others_are_not() {
        let large = Enough::of(8000, 10 << 30);
        assert_eq!(fragments(large, 5, 500, 1 << 20), [1000, 1000, 500]);
        assert_eq!(fragments(large, 3, 5000, 1 << 20), [5000, 5000, 5000]);
        let few = limits::GATHER_CSV_BYTES_MAX as usize >> 20;
        assert_eq!(fragments(large, 2 * few, 1, 1 << 20), [few, few]);
        let small = Enough::of(8000, 10 << 20);
        assert_eq!(fragments(small, 3, 1, 1 << 20), [1, 1, 1], "there are workers enough for each");
        assert_eq!(fragments(Enough::of(0, 10 << 30), 2, 1, 1 << 20), [1, 1]);
        let huge = limits::GATHER_BYTES_MAX as i64 / 8 - 500;
        let eager = Enough::of(usize::MAX, u64::MAX);
        assert_eq!(fragments(eager, 2, huge, 1 << 10), [huge as usize; 2], "each by itself");
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let options = RecordBatchOptions::new().with_row_count(Some(7));
        let schema = Arc::new(Schema::empty());
        let batch = RecordBatch::try_new_with_options(schema, vec![], &options).unwrap();
        let mut gathered = Gathered::default();
        gathered.add(3, batch.clone(), 1);
        gathered.add(5, batch, 1);
        let (chunks, batch) = gathered.take().unwrap();
        assert_eq!((chunks, batch.num_rows()), (vec![3, 5], 14));
        assert!(gathered.take().is_none());
    }
}
