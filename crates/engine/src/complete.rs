//! A stage whose inputs are complete, run once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use caudal_core::{QueryId, ShardId, Source, StageId, limits};
use caudal_planner::stage::Output;
use caudal_runtime::failpoint::knob;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use futures::channel::mpsc::Sender;
use futures::{SinkExt, StreamExt};

use crate::compact::compact;
use crate::early::Said;
use crate::engine::Engine;
use crate::error::Error;
use crate::joins;
use crate::pace::pace;
use crate::partition::{distribute, spread_key};

/// A fragment of what a stage of one shard sends.
#[derive(Debug)]
pub struct StageOutput {
    pub to: Destination,
    pub number: u32,
    /// On the last one for its destination: how many there are.
    pub end: Option<u32>,
    pub batches: Vec<RecordBatch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Destination {
    Shard(ShardId),
    Client(QueryId),
}

/// A complete stage of a shard, ready to run.
pub struct Completion {
    pub stage: StageId,
    pub(crate) shard: ShardId,
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    /// Rows that have been answered early, and need not be again.
    pub(crate) said: Said,
    pub(crate) has_run: AtomicBool,
}

impl Engine {
    /// Runs a complete stage; what it makes goes out as it is made. It may be run again.
    pub async fn complete(
        &self,
        completion: &Completion,
        sender: Sender<StageOutput>,
    ) -> Result<(), Error> {
        let _running = Running::new(&self.memory.completions);
        let Completion { stage, shard, plan, said, .. } = completion;
        let (stage, shard) = (*stage, *shard);
        let options = self.context.session_config().options();
        let plan = match completion.has_run.swap(true, Ordering::Relaxed) {
            false => Arc::clone(plan),
            // Operators keep state.
            true => reset_plan_states(Arc::clone(plan))?,
        };
        let plan = pace(joins::choose(plan, options, self.build_bytes_max())?)?;
        let output = &self.plan.stage(stage).output;
        let mut outbox = Outbox::new(plan.schema(), output, said.next_number, sender);
        let mut rest = said.rest(&plan.schema()).map_err(DataFusionError::from)?;
        let key = spread_key(Source::Shard { stage, shard }, 0);
        for partition in 0..plan.properties().partitioning.partition_count() {
            let mut stream = plan.execute(partition, self.task())?;
            while let Some(batch) = stream.next().await {
                let mut batch = batch?;
                if let Some(rest) = &mut rest {
                    batch = rest.of(&batch).map_err(DataFusionError::from)?;
                }
                if batch.num_rows() == 0 {
                    continue;
                }
                match output {
                    Output::Result(query) => outbox.add(Destination::Client(*query), batch).await?,
                    Output::Shards { distribution, to } => {
                        let divided =
                            distribute(vec![batch], distribution, to, self.plan.shards, key)?;
                        for (shard, batches) in divided {
                            for batch in batches {
                                outbox.add(Destination::Shard(shard), batch).await?;
                            }
                        }
                    }
                }
            }
        }
        outbox.close().await;
        Ok(())
    }
}

/// One of the stages that run, as long as it does, however it ends.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Joins small batches and numbers what goes to each destination.
struct Outbox {
    schema: SchemaRef,
    sender: Sender<StageOutput>,
    boxes: BTreeMap<Destination, Waiting>,
    fragment_rows: usize,
}

#[derive(Default)]
struct Waiting {
    next_number: u32,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Outbox {
    fn new(
        schema: SchemaRef,
        output: &Output,
        next_number: u32,
        sender: Sender<StageOutput>,
    ) -> Self {
        let destinations: Vec<_> = match output {
            Output::Result(query) => vec![Destination::Client(*query)],
            Output::Shards { to, .. } => {
                to.iter().map(|shard| Destination::Shard(*shard)).collect()
            }
        };
        let boxes = destinations
            .into_iter()
            .map(|to| (to, Waiting { next_number, ..Waiting::default() }))
            .collect();
        let fragment_rows = knob("output_fragment_rows", limits::OUTPUT_FRAGMENT_ROWS);
        Self { schema, sender, boxes, fragment_rows }
    }

    async fn add(&mut self, to: Destination, batch: RecordBatch) -> Result<()> {
        let waiting = self.boxes.get_mut(&to).expect("a stage sends only where its plan says");
        // One more row than fits means that this box is not the last.
        if waiting.rows >= self.fragment_rows {
            let batches = std::mem::take(&mut waiting.batches);
            let number = waiting.next_number;
            waiting.next_number += 1;
            waiting.rows = 0;
            let batches = vec![compact(concat_batches(&self.schema, &batches)?)];
            self.send(StageOutput { to, number, end: None, batches }).await;
        }
        let waiting = self.boxes.get_mut(&to).expect("looked up above");
        waiting.rows += batch.num_rows();
        waiting.batches.push(batch);
        Ok(())
    }

    /// Every destination gets a last fragment, empty or not, that says how many there were.
    async fn close(mut self) {
        for (to, waiting) in std::mem::take(&mut self.boxes) {
            let end = Some(waiting.next_number + 1);
            let number = waiting.next_number;
            let batches = waiting.batches.into_iter().map(compact).collect();
            self.send(StageOutput { to, number, end, batches }).await;
        }
    }

    async fn send(&mut self, output: StageOutput) {
        // A receiver that is gone has given up the session: there is nobody to tell.
        let _ = self.sender.send(output).await;
    }
}
