//! The gathered rows of one input of a shard.
//!
//! Partial states are merged as they come, so that memory follows the groups and not the input;
//! what cannot be merged is kept as it is. What does not fit into memory is spilled.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use caudal_core::{StageId, limits};
use caudal_runtime::failpoint::{hit, knob};
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::{ExecutionPlan, SpillManager};

use crate::engine::Engine;
use crate::memory::bytes_of;
use crate::merge::Merge;
use crate::source::SourceExec;

pub struct Gathered {
    schema: SchemaRef,
    may_join: bool,
    batches: Vec<RecordBatch>,
    rows: usize,
    /// Of the batches: summed up as they come, for there may be many of them.
    bytes: usize,
    /// All rows that ever came in.
    pub rows_added: usize,
    /// Rows at which merging is tried again: far enough above what the last one left that the
    /// merging of a whole session costs no more than a few passes over it.
    merge_at_rows: usize,
    spilled: Vec<Spilled>,
    memory: MemoryReservation,
    /// The same bytes, of what all that is gathered may take.
    share: MemoryReservation,
}

/// Batches on disk. The file goes when nobody reads it any more.
#[derive(Clone)]
pub struct Spilled {
    manager: Arc<SpillManager>,
    file: Arc<dyn SpillFile>,
    pub rows: usize,
    pub bytes: usize,
}

impl fmt::Debug for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spilled").field("rows", &self.rows).field("bytes", &self.bytes).finish()
    }
}

impl Spilled {
    pub fn read(&self) -> Result<SendableRecordBatchStream> {
        self.manager.read_spill_as_stream(self.file.clone(), None)
    }
}

impl Gathered {
    pub fn new(engine: &Engine, stage: StageId) -> Self {
        let consumer = || MemoryConsumer::new(format!("gathered {stage}")).with_can_spill(true);
        Self {
            schema: engine.plan.stage(stage).plan.schema(),
            may_join: !engine.batches_to_keep.contains(&stage),
            batches: vec![],
            rows: 0,
            bytes: 0,
            rows_added: 0,
            merge_at_rows: knob("merge_rows_min", limits::MERGE_ROWS_MIN),
            spilled: vec![],
            memory: consumer().register(&engine.memory.runtime.memory_pool),
            share: consumer().register(&engine.memory.gathering),
        }
    }

    pub async fn add(
        &mut self,
        batches: Vec<RecordBatch>,
        merge: Option<&Merge>,
        engine: &Engine,
    ) -> Result<()> {
        let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        self.rows += rows;
        self.rows_added += rows;
        // Some of DataFusion's states (percentile_cont's) look at the first row of a batch without a look at
        // how many there are.
        let batches: Vec<_> = batches.into_iter().filter(|batch| batch.num_rows() > 0).collect();
        self.bytes += bytes_of(&batches);
        self.batches.extend(batches);
        if let Some(merge) = merge {
            if self.rows >= self.merge_at_rows {
                self.merge(merge, engine).await?;
            }
        } else if self.may_join && self.batches.len() >= limits::GATHER_BATCHES_MAX {
            self.join_small_batches()?;
        }
        self.account(engine)
    }

    async fn merge(&mut self, merge: &Merge, engine: &Engine) -> Result<()> {
        let before = self.rows;
        self.batches = merge.run(std::mem::take(&mut self.batches), engine).await?;
        self.rows = self.batches.iter().map(RecordBatch::num_rows).sum();
        self.bytes = bytes_of(&self.batches);
        // Where merging saves little (keys that hardly repeat), do it more rarely.
        let growth = if self.rows * 2 > before { 4 } else { 2 };
        self.merge_at_rows =
            (self.rows * growth).max(knob("merge_rows_min", limits::MERGE_ROWS_MIN));
        Ok(())
    }

    /// Joins runs of batches that are small on average; big ones are left alone.
    fn join_small_batches(&mut self) -> Result<()> {
        let in_small = |batch: &RecordBatch| batch.num_rows() < limits::OUTPUT_FRAGMENT_ROWS;
        let (small, mut kept): (Vec<_>, Vec<_>) = self.batches.drain(..).partition(in_small);
        let mut run = vec![];
        let mut run_rows = 0;
        for batch in small {
            run_rows += batch.num_rows();
            run.push(batch);
            if run_rows >= limits::OUTPUT_FRAGMENT_ROWS {
                kept.push(concat_batches(&self.schema, &std::mem::take(&mut run))?);
                run_rows = 0;
            }
        }
        if !run.is_empty() {
            kept.push(concat_batches(&self.schema, &run)?);
        }
        self.batches = kept;
        self.bytes = bytes_of(&self.batches);
        Ok(())
    }

    /// Tells the memory pools, and spills when one refuses.
    fn account(&mut self, engine: &Engine) -> Result<()> {
        let bytes = self.bytes;
        if self.share.try_resize(bytes).is_ok() && self.memory.try_resize(bytes).is_ok() {
            return Ok(());
        }
        let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        let manager =
            SpillManager::new(Arc::clone(&engine.memory.runtime), metrics, self.schema.clone());
        if let Some(file) = manager.spill_record_batch_and_finish(&self.batches, "gathered rows")? {
            let rows = self.batches.iter().map(RecordBatch::num_rows).sum();
            engine.count_spilled(bytes);
            hit("gather.spilled");
            self.spilled.push(Spilled { manager: Arc::new(manager), file, rows, bytes });
        }
        self.batches.clear();
        self.rows = 0;
        self.bytes = 0;
        self.share.free();
        self.memory.free();
        Ok(())
    }

    /// The rows, unless some had to be spilled.
    pub fn batches_in_memory(&self) -> Option<&[RecordBatch]> {
        self.spilled.is_empty().then_some(&self.batches)
    }

    pub fn bytes(&self) -> usize {
        self.memory.size() + self.spilled.iter().map(|spilled| spilled.bytes).sum::<usize>()
    }

    /// Rows in hand now, in memory and on disk: what a run over them reads.
    pub fn rows(&self) -> usize {
        self.rows + self.spilled.iter().map(|spilled| spilled.rows).sum::<usize>()
    }

    pub fn source(&self, leaf: &Arc<dyn ExecutionPlan>) -> SourceExec {
        SourceExec::new(leaf, self.batches.clone(), self.spilled.clone())
    }
}
