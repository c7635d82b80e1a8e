//! Rows that a stage says before it is complete, and the memory of having said them.
//!
//! The planner has found that whatever the stage would answer now, it will still answer at the end
//! ([`caudal_planner::early`]). So the stage is run on what there is, and of its rows those are new
//! that have not been said as often. At the end the same difference gives the rest.

use std::collections::HashMap;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::row::{OwnedRow, RowConverter, SortField};

/// Rows that have been said, as a multiset.
#[derive(Debug, Default)]
pub struct Said {
    rows: HashMap<OwnedRow, usize>,
    /// The number of the next fragment of the answer.
    pub next_number: u32,
}

/// Takes away from an answer what has been said of it before.
pub struct Difference<'a> {
    converter: RowConverter,
    said: &'a HashMap<OwnedRow, usize>,
    seen: HashMap<OwnedRow, usize>,
}

impl Said {
    pub fn difference(&self, schema: &SchemaRef) -> Result<Difference<'_>, ArrowError> {
        Ok(Difference { converter: converter(schema)?, said: &self.rows, seen: HashMap::new() })
    }

    /// Remembers rows that were said by an earlier owner.
    pub fn add(&mut self, batches: &[RecordBatch]) -> Result<(), ArrowError> {
        for batch in batches.iter().filter(|batch| batch.num_columns() > 0) {
            let rows = converter(&batch.schema())?.convert_columns(batch.columns())?;
            for row in &rows {
                *self.rows.entry(row.owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// The difference, unless nothing has been said and everything is new.
    pub fn difference_if_any(
        &self,
        schema: &SchemaRef,
    ) -> Result<Option<Difference<'_>>, ArrowError> {
        if self.rows.is_empty() { Ok(None) } else { self.difference(schema).map(Some) }
    }

    /// Remembers the rows that a whole run gave: all of them have now been said.
    pub fn remember(&mut self, seen: HashMap<OwnedRow, usize>) {
        debug_assert!(
            self.rows.iter().all(|(row, count)| seen.get(row).is_some_and(|now| now >= count)),
            "said rows stay true"
        );
        self.rows = seen;
    }
}

fn converter(schema: &SchemaRef) -> Result<RowConverter, ArrowError> {
    let fields = schema.fields().iter();
    RowConverter::new(fields.map(|field| SortField::new(field.data_type().clone())).collect())
}

impl Difference<'_> {
    /// The rows of the batch that are new.
    pub fn new_rows(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        if batch.num_columns() == 0 {
            return Ok(batch.clone());
        }
        let rows = self.converter.convert_columns(batch.columns())?;
        let mut is_new = Vec::with_capacity(batch.num_rows());
        for row in &rows {
            let row = row.owned();
            let said = self.said.get(&row).copied().unwrap_or(0);
            let seen = self.seen.entry(row).or_default();
            *seen += 1;
            is_new.push(*seen > said);
        }
        filter_record_batch(batch, &BooleanArray::from(is_new))
    }

    pub fn into_seen(self) -> HashMap<OwnedRow, usize> {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};

    use super::*;

    fn batch(values: &[i64]) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        let values = Arc::new(Int64Array::from(values.to_vec()));
        RecordBatch::try_new(Arc::new(schema), vec![values]).unwrap()
    }

    fn say(said: &mut Said, values: &[i64]) -> Vec<i64> {
        let batch = batch(values);
        let mut difference = said.difference(&batch.schema()).unwrap();
        let new = difference.new_rows(&batch).unwrap();
        let seen = difference.into_seen();
        said.remember(seen);
        new.column(0).as_primitive::<Int64Type>().values().to_vec()
    }

    #[test]
    fn each_row_is_said_as_often_as_it_is_true() {
        let mut said = Said::default();
        assert_eq!(say(&mut said, &[1, 2]), [1, 2]);
        assert_eq!(say(&mut said, &[2, 1, 2, 3]), [2, 3]);
        assert_eq!(say(&mut said, &[3, 2, 2, 1]), Vec::<i64>::new());

        let mut restored = Said::default();
        restored.add(&[batch(&[1, 2]), batch(&[2, 3])]).unwrap();
        assert_eq!(say(&mut restored, &[3, 3, 2, 2, 1]), [3]);
    }
}
