//! Rows that a stage says before it is complete, and the memory of having said them.
//!
//! The planner has found that whatever the stage would answer now, it will still answer at the end
//! ([`caudal_planner::early`]). So the stage is run on what there is, and of its rows those are new
//! that have not been said as often. At the end the same difference gives the rest.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;

use crate::memory::Held;
use crate::pace::pace;

/// Rows that have been said, as a multiset.
#[derive(Debug, Default)]
pub struct Said {
    rows: HashMap<Box<[u8]>, Count>,
    /// The memory that they take, about.
    bytes: usize,
    /// Of the pool; none where nothing is ever said.
    memory: Option<MemoryReservation>,
    /// The number of the look that is under way, or was the last.
    look: u32,
    /// The number of the next fragment of the answer.
    pub next_number: u32,
}

/// How often a row has been said, and how often it was seen in one look.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    said: usize,
    seen: usize,
    look: u32,
}

/// What a row takes beside its own bytes: its place in the map, and that of its bytes.
const ROW_BYTES: usize = 2 * (size_of::<Box<[u8]>>() + size_of::<Count>());

impl Said {
    /// Nothing yet, of what there may be in a pool.
    pub fn new(pool: &Arc<dyn MemoryPool>) -> Self {
        let memory = MemoryConsumer::new("early answers").register(pool);
        Self { memory: Some(memory), ..Self::default() }
    }

    /// Runs a plan; its rows that are new, which from here on are said. After an error nothing is.
    pub async fn look(
        &mut self,
        plan: Arc<dyn ExecutionPlan>,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<RecordBatch>> {
        let looked = self.run(plan, context).await;
        match &looked {
            Ok(_) => self.remember(),
            Err(_) => self.forget_unsaid(),
        }
        looked
    }

    async fn run(
        &mut self,
        plan: Arc<dyn ExecutionPlan>,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<RecordBatch>> {
        let plan = pace(plan)?;
        let converter = converter(&plan.schema())?;
        self.look += 1;
        let mut new = Held::new("early answers on their way", context.memory_pool());
        for partition in 0..plan.properties().partitioning.partition_count() {
            let mut stream = plan.execute(partition, Arc::clone(context))?;
            while let Some(batch) = stream.next().await {
                let rows = self.new_rows(&converter, &batch?)?;
                self.account()?;
                new.push(rows);
            }
        }
        Ok(new.into_batches())
    }

    /// The rows of the batch that are new in this look.
    fn new_rows(
        &mut self,
        converter: &RowConverter,
        batch: &RecordBatch,
    ) -> Result<RecordBatch, ArrowError> {
        if batch.num_columns() == 0 {
            return Ok(batch.clone());
        }
        let rows = converter.convert_columns(batch.columns())?;
        let is_new = rows.iter().map(|row| {
            let count = self.count(row.as_ref());
            count.seen += 1;
            count.seen > count.said
        });
        let is_new: Vec<bool> = is_new.collect();
        filter_record_batch(batch, &BooleanArray::from(is_new))
    }

    /// The count of a row, in the look that is under way.
    fn count(&mut self, row: &[u8]) -> &mut Count {
        if !self.rows.contains_key(row) {
            self.rows.insert(row.into(), Count::default());
            self.bytes += row.len() + ROW_BYTES;
        }
        let count = self.rows.get_mut(row).expect("it is there now");
        if count.look != self.look {
            *count = Count { said: count.said, seen: 0, look: self.look };
        }
        count
    }

    /// The rows of the look have been said.
    fn remember(&mut self) {
        let look = self.look;
        for count in self.rows.values_mut() {
            let seen = if count.look == look { count.seen } else { 0 };
            debug_assert!(seen >= count.said, "said rows stay true");
            count.said = count.said.max(seen);
        }
    }

    /// The rows of the look have not been said.
    fn forget_unsaid(&mut self) {
        self.rows.retain(|_, count| count.said > 0);
        self.rows.shrink_to_fit();
        self.bytes = self.rows.keys().map(|row| row.len() + ROW_BYTES).sum();
        if let Some(memory) = &self.memory {
            memory.resize(self.bytes);
        }
    }

    fn account(&self) -> Result<()> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.try_resize(self.bytes))
    }

    /// Remembers rows that were said by an earlier owner.
    pub fn add(&mut self, batches: &[RecordBatch]) -> Result<(), ArrowError> {
        for batch in batches.iter().filter(|batch| batch.num_columns() > 0) {
            let rows = converter(&batch.schema())?.convert_columns(batch.columns())?;
            for row in &rows {
                self.count(row.as_ref()).said += 1;
            }
        }
        if let Some(memory) = &self.memory {
            memory.resize(self.bytes);
        }
        Ok(())
    }

    /// Takes away what has been said; nothing to do where nothing has.
    pub fn rest(&self, schema: &SchemaRef) -> Result<Option<Rest<'_>>, ArrowError> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(Rest { converter: converter(schema)?, said: self, seen: HashMap::new() }))
    }
}

fn converter(schema: &SchemaRef) -> Result<RowConverter, ArrowError> {
    let fields = schema.fields().iter();
    RowConverter::new(fields.map(|field| SortField::new(field.data_type().clone())).collect())
}

/// Takes away from the final answer what has been said of it before.
pub struct Rest<'a> {
    converter: RowConverter,
    said: &'a Said,
    /// Of the rows that have been said: the others are new, however many there are.
    seen: HashMap<&'a [u8], usize>,
}

impl Rest<'_> {
    /// The rows of the batch that have not been said.
    pub fn of(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        if batch.num_columns() == 0 {
            return Ok(batch.clone());
        }
        let rows = self.converter.convert_columns(batch.columns())?;
        let is_new = rows.iter().map(|row| {
            let Some((row, count)) = self.said.rows.get_key_value(row.as_ref()) else {
                return true;
            };
            let seen = self.seen.entry(row).or_default();
            *seen += 1;
            *seen > count.said
        });
        let is_new: Vec<bool> = is_new.collect();
        filter_record_batch(batch, &BooleanArray::from(is_new))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;
    use crate::memory::bytes_of;

    fn batch(values: &[i64]) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        let values = Arc::new(Int64Array::from(values.to_vec()));
        RecordBatch::try_new(Arc::new(schema), vec![values]).unwrap()
    }

    fn values(batch: &RecordBatch) -> Vec<i64> {
        batch.column(0).as_primitive::<Int64Type>().values().to_vec()
    }

    /// A look that sees these rows.
    fn see(said: &mut Said, seen: &[i64]) -> Vec<i64> {
        let batch = batch(seen);
        said.look += 1;
        let new = said.new_rows(&converter(&batch.schema()).unwrap(), &batch).unwrap();
        values(&new)
    }

    fn say(said: &mut Said, seen: &[i64]) -> Vec<i64> {
        let new = see(said, seen);
        said.remember();
        new
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

    #[test]
    fn the_rest_is_what_was_not_said_and_is_not_kept() {
        let mut said = Said::default();
        say(&mut said, &[1, 2, 2]);
        let (kept, all) = (said.rows.len(), batch(&[2, 1, 2, 2, 3, 3]));
        let mut rest = said.rest(&all.schema()).unwrap().unwrap();
        assert_eq!(values(&rest.of(&all).unwrap()), [2, 3, 3]);
        assert_eq!(values(&rest.of(&batch(&[1])).unwrap()), [1]);
        assert_eq!((rest.seen.len(), said.rows.len()), (2, kept));
        assert!(Said::default().rest(&all.schema()).unwrap().is_none());
    }

    #[test]
    fn a_look_that_fails_has_said_nothing() {
        let mut said = Said::default();
        say(&mut said, &[1]);
        assert_eq!(see(&mut said, &[1, 2, 3]), [2, 3]);
        said.forget_unsaid();
        assert_eq!((said.rows.len(), said.bytes), (1, said.bytes));
        assert_eq!(say(&mut said, &[1, 2]), [2], "as if it had not been");
    }

    #[test]
    fn what_is_remembered_counts_in_the_pool() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(100 * ROW_BYTES));
        let mut said = Said::new(&pool);
        say(&mut said, &(0..50).collect::<Vec<_>>());
        said.account().unwrap();
        assert!(pool.reserved() >= 50 * (ROW_BYTES + 8), "{}", pool.reserved());
        see(&mut said, &(0..500).collect::<Vec<_>>());
        said.account().unwrap_err();
        said.forget_unsaid();
        said.account().unwrap();
        drop(said);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn batches_on_their_way_count_until_they_are_taken() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(1 << 20));
        let mut held = Held::new("rows", &pool);
        held.push(batch(&[1, 2]));
        held.push(batch(&[]));
        assert_eq!(pool.reserved(), bytes_of(&[batch(&[1, 2])]));
        assert_eq!(held.into_batches().len(), 1, "empty ones are not kept");
        assert_eq!(pool.reserved(), 0);
    }
}
