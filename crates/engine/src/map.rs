//! A fragment of a table through every map stage that reads it.
//!
//! DataFusion's plan below an exchange is right for any split of its table into partitions, and a
//! fragment is a partition. So a fragment can be run alone, by any worker, in any order, twice.

use arrow::array::{RecordBatch, RecordBatchOptions};
use caudal_core::{FragmentId, QueryId, ShardId, Source, StageId, TableId, limits};
use caudal_functions::bounded::TooLarge;
use caudal_functions::exact;
use caudal_planner::leaf::Leaf;
use caudal_planner::stage::{Output, Stage};
use caudal_protocol::{Failure, Section, TableFragment};
use datafusion::execution::memory_pool::MemoryReservation;

use crate::bind::bind;
use crate::compact::compact;
use crate::engine::Engine;
use crate::error::Error;
use crate::memory::{Held, bytes_of};
use crate::partition::{distribute, spread_key};
use crate::source::{SourceExec, collect};

/// The output of a map stage for one fragment.
#[derive(Debug, Default)]
pub struct MapOutput {
    /// For each shard that reads the table, what it gets: possibly nothing but the message that the
    /// fragment was there.
    pub shards: Vec<(ShardId, Vec<Section>)>,
    /// For each query that is answered straight from the table.
    pub results: Vec<(QueryId, Vec<RecordBatch>)>,
    /// Queries that this fragment's data makes impossible to answer.
    pub failures: Vec<(QueryId, Failure)>,
    /// Of the pool, as long as its rows are on their way.
    _memory: Option<MemoryReservation>,
}

impl Engine {
    pub async fn map(&self, fragment: &TableFragment) -> MapOutput {
        let table = fragment.table;
        let batch = with_one_nan(&fragment.batch);
        let shards = self.plan.shards_reading(table);
        let mut output = MapOutput {
            shards: shards.into_iter().map(|shard| (shard, vec![])).collect(),
            ..MapOutput::default()
        };
        let memory = self.memory.hold("rows of a fragment", 0);
        for stage in &self.plan.table(table).stages {
            let stage = self.plan.stage(*stage);
            let done = match self.run_on_fragment(stage, table, &batch).await {
                Ok(batches) => {
                    memory.grow(bytes_of(&batches));
                    output.add(stage, batches, fragment, self.plan.shards)
                }
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                output.fail(stage, &error);
            }
        }
        output._memory = Some(memory);
        output
    }

    async fn run_on_fragment(
        &self,
        stage: &Stage,
        of: TableId,
        batch: &RecordBatch,
    ) -> Result<Vec<RecordBatch>, Error> {
        match self.run_on_rows(stage, of, batch).await {
            Err(Error::TooLarge(what)) if batch.num_rows() > 1 => {
                self.run_on_slices(stage, of, batch, what).await
            }
            ran => ran,
        }
    }

    /// What a function makes of a whole fragment may be too much where what it makes of a few rows is not, and most of
    /// that is soon gone. A slice is a partition as well.
    async fn run_on_slices(
        &self,
        stage: &Stage,
        of: TableId,
        batch: &RecordBatch,
        what: TooLarge,
    ) -> Result<Vec<RecordBatch>, Error> {
        let rows = batch.num_rows().div_ceil(limits::MAP_FRAGMENT_SLICES);
        let mut made = Held::new("rows of slices", &self.memory.runtime.memory_pool);
        for start in (0..batch.num_rows()).step_by(rows) {
            let slice = batch.slice(start, rows.min(batch.num_rows() - start));
            for batch in self.run_on_rows(stage, of, &slice).await? {
                made.push(batch);
            }
            if made.bytes() > limits::MAP_OUTPUT_BYTES_MAX {
                return Err(Error::TooLarge(what));
            }
        }
        Ok(made.into_batches())
    }

    async fn run_on_rows(
        &self,
        stage: &Stage,
        of: TableId,
        batch: &RecordBatch,
    ) -> Result<Vec<RecordBatch>, Error> {
        let sent = &self.plan.table(of).needs.columns;
        let plan = bind(&stage.plan, &mut |leaf, plan| {
            let batches = match leaf {
                Leaf::Table { table, columns, .. } if *table == of => {
                    let at = |column| sent.iter().position(|sent| sent == column);
                    let columns: Vec<_> = columns.iter().filter_map(at).collect();
                    vec![batch.project(&columns)?]
                }
                _ => vec![],
            };
            Ok(SourceExec::new(plan, batches, vec![]))
        })?;
        Ok(collect(plan, &self.context).await?)
    }
}

/// A fragment as plans expect it: with [one NaN](caudal_functions::exact::with_one_nan), whatever its sender calls one.
fn with_one_nan(batch: &RecordBatch) -> RecordBatch {
    let columns = batch.columns().iter().map(exact::with_one_nan).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
        .expect("the same types and lengths")
}

impl MapOutput {
    fn add(
        &mut self,
        stage: &Stage,
        batches: Vec<RecordBatch>,
        fragment: &TableFragment,
        shards: usize,
    ) -> Result<(), Error> {
        let id = FragmentId { source: Source::Table(fragment.table), number: fragment.number };
        match &stage.output {
            Output::Result(query) => {
                self.results.push((*query, batches.into_iter().map(compact).collect()));
            }
            Output::Shards { distribution, to } => {
                let key = spread_key(id.source, id.number);
                for (shard, batches) in distribute(batches, distribution, to, shards, key)? {
                    self.send(shard, stage.id, batches);
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, to: ShardId, stage: StageId, batches: Vec<RecordBatch>) {
        let batches = batches.into_iter().map(compact).collect();
        let reader = self.shards.iter_mut().find(|(shard, _)| *shard == to);
        let (_, sections) = reader.expect("a stage sends only to shards that read its tables");
        sections.push(Section { stage, batches });
    }

    fn fail(&mut self, stage: &Stage, error: &Error) {
        let failure = Failure::of(error);
        self.failures.extend(stage.queries.iter().map(|query| (*query, failure.clone())));
        // The fragment still counts as seen by those who wait for it.
        if let Output::Result(query) = &stage.output {
            self.results.push((*query, vec![]));
        }
    }
}
