//! One shard: what it has gathered, exactly once, and which of its stages are complete.

mod state;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use caudal_core::{FragmentId, Offer, ShardId, Source, StageId, Tracker, limits};
use caudal_planner::early::Early;
use caudal_planner::leaf::Leaf;
use caudal_planner::stage::{Output, Stage};
use caudal_protocol::{FragmentPart, Section};
use caudal_runtime::failpoint::knob;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::ExecutionPlan;

use crate::bind::bind;
use crate::complete::{Completion, Destination, StageOutput};
use crate::early::Said;
use crate::engine::Engine;
use crate::error::Error;
use crate::gather::Gathered;
use crate::memory::bytes_of;
use crate::mutants;

pub use state::ShardState;

pub struct Shard {
    pub id: ShardId,
    engine: Arc<Engine>,
    tracker: Tracker<Vec<Section>>,
    /// Bytes of the parts that wait for others of their attempt, by fragment.
    pending_bytes: HashMap<FragmentId, usize>,
    /// The same, of the pool.
    pending_memory: MemoryReservation,
    inputs: BTreeMap<StageId, Gathered>,
    /// Stages of this shard that have not been started.
    waiting: BTreeSet<StageId>,
    early: BTreeMap<StageId, EarlyState>,
    failures: Vec<(StageId, Arc<Error>)>,
}

/// The state of a stage that answers early.
struct EarlyState {
    said: Said,
    /// Rows that had come in when it was last looked at.
    looked_at_rows: usize,
    /// There was no memory for a look: it answers at its end.
    has_given_up: bool,
}

impl EarlyState {
    fn new(engine: &Engine) -> Self {
        let said = Said::new(&engine.memory.runtime.memory_pool);
        Self { said, looked_at_rows: 0, has_given_up: false }
    }
}

/// The outcome of taking a part of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It counts: its fragment is whole, or waits for the other parts.
    Yes,
    /// It was here before.
    Duplicate,
}

impl Shard {
    /// A shard that has seen nothing. The stages that are `done` are not run again.
    pub fn new(id: ShardId, engine: Arc<Engine>, done: &BTreeSet<StageId>) -> Self {
        let stages = engine.plan.stages.iter();
        let stages = stages.filter(|stage| stage.runs_on(id)).map(|stage| stage.id);
        let waiting = stages.filter(|stage| !done.contains(stage)).collect();
        let pending_memory = engine.memory.hold("parts of fragments", 0);
        Self {
            id,
            engine,
            tracker: Tracker::default(),
            pending_bytes: HashMap::new(),
            pending_memory,
            inputs: BTreeMap::new(),
            waiting,
            early: BTreeMap::new(),
            failures: vec![],
        }
    }

    /// Takes a part of a fragment, unless it has been taken before.
    pub async fn take(&mut self, part: FragmentPart) -> Result<Taken, Error> {
        if let Some(count) = part.end {
            self.end(part.id.source, count)?;
        }
        let again = mutants::dedup_off(&part.sections);
        let (id, bytes) = (part.id, part.sections.iter().map(|it| bytes_of(&it.batches)).sum());
        match self.tracker.offer(part.id, part.part, part.sections)? {
            Offer::Pending => {
                *self.pending_bytes.entry(id).or_default() += bytes;
                self.pending_memory.grow(bytes);
                Ok(Taken::Yes)
            }
            Offer::Duplicate => {
                for section in again {
                    self.gather(section).await;
                }
                Ok(Taken::Duplicate)
            }
            Offer::Taken(parts) => {
                self.pending_memory.shrink(self.pending_bytes.remove(&id).unwrap_or(0));
                for section in parts.into_iter().flatten() {
                    self.gather(section).await;
                }
                Ok(Taken::Yes)
            }
        }
    }

    /// Takes note of how many fragments a source has.
    pub fn end(&mut self, source: Source, count: u32) -> Result<(), Error> {
        Ok(self.tracker.end(source, count)?)
    }

    /// Stages of this shard that will never be complete, because rows for them could not be kept, and why.
    pub fn take_failures(&mut self) -> Vec<(StageId, Arc<Error>)> {
        std::mem::take(&mut self.failures)
    }

    async fn gather(&mut self, section: Section) {
        let engine = Arc::clone(&self.engine);
        let input = section.stage;
        if !self.is_needed(input) {
            return;
        }
        let gathered = self.inputs.entry(input).or_insert_with(|| Gathered::new(&engine, input));
        let merge = engine.merges.get(&input);
        if let Err(error) = gathered.add(section.batches, merge, &engine).await {
            self.inputs.remove(&input);
            let error = Arc::new(Error::from(error));
            let failed = self
                .waiting
                .extract_if(.., |stage| engine.plan.stage(*stage).inputs.contains(&input));
            self.failures.extend(failed.map(|stage| (stage, Arc::clone(&error))));
        }
    }

    /// The next stage whose inputs are complete, with what it needs to run. Each comes once.
    pub fn next_complete(&mut self) -> Option<Result<Completion, (StageId, Error)>> {
        let engine = Arc::clone(&self.engine);
        let ready = self
            .waiting
            .iter()
            .copied()
            .find(|stage| self.is_complete(engine.plan.stage(*stage)))?;
        self.waiting.remove(&ready);
        let plan = self.bind_gathered(engine.plan.stage(ready));
        let said = self.early.remove(&ready).map(|state| state.said).unwrap_or_default();
        self.forget_unneeded();
        let (stage, shard, has_run) = (ready, self.id, AtomicBool::new(false));
        let completion = plan.map(|plan| Completion { stage, shard, plan, said, has_run });
        Some(completion.map_err(|error| (ready, error)))
    }

    /// Early answers of the waiting stages, as far as it is worth a look: a look costs a run
    /// over what has been gathered, so it has to have grown. What one stage fails of is no other's loss: rows that are
    /// given back here count as said, and have to be.
    pub async fn early_answers(&mut self) -> Vec<(StageId, Result<StageOutput, Error>)> {
        let engine = Arc::clone(&self.engine);
        let mut answers = vec![];
        for id in self.waiting.iter().copied().collect::<Vec<_>>() {
            let stage = engine.plan.stage(id);
            let Some(Early { growing }) = &stage.early else { continue };
            if self.has_grown(id, *growing) && self.is_complete_but_for(stage, *growing) {
                let answer = self.answer_early(stage).await.transpose();
                answers.extend(answer.map(|answer| (id, answer)));
            }
        }
        answers
    }

    fn has_grown(&mut self, stage: StageId, growing: StageId) -> bool {
        let Some(gathered) = self.inputs.get(&growing) else { return false };
        let state = self.early.get(&stage);
        if state.is_some_and(|state| state.has_given_up) {
            return false;
        }
        let looked_at = state.map_or(0, |state| state.looked_at_rows);
        let rows_min = knob("early_rows_min", limits::EARLY_ROWS_MIN);
        gathered.rows_added - looked_at >= (gathered.rows() / 2).max(rows_min)
    }

    fn is_complete_but_for(&self, stage: &Stage, growing: StageId) -> bool {
        let others = stage.inputs.iter().filter(|input| **input != growing);
        others.into_iter().all(|input| self.is_input_complete(*input))
    }

    async fn answer_early(&mut self, stage: &Stage) -> Result<Option<StageOutput>, Error> {
        let growing = stage.early.as_ref().and_then(|early| self.inputs.get(&early.growing));
        // Looked at, also if it fails: not again before there is more.
        let looked_at_rows = growing.map_or(0, |gathered| gathered.rows_added);
        let plan = self.bind_gathered(stage)?;
        let engine = &self.engine;
        let state = self.early.entry(stage.id).or_insert_with(|| EarlyState::new(engine));
        state.looked_at_rows = looked_at_rows;
        let new = match state.said.look(plan, &engine.context).await.map_err(Error::from) {
            // The answer at the end needs none of it.
            Err(Error::Memory(_)) => {
                state.has_given_up = true;
                return Ok(None);
            }
            looked => looked?,
        };
        let Output::Result(query) = stage.output else { return Ok(None) };
        if new.is_empty() {
            return Ok(None);
        }
        let number = state.said.next_number;
        state.said.next_number += 1;
        let to = Destination::Client(query);
        Ok(Some(StageOutput { to, number, end: None, batches: new }))
    }

    /// Whether every stage of the shard has been started.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    fn is_complete(&self, stage: &Stage) -> bool {
        stage.inputs.iter().all(|input| self.is_input_complete(*input))
    }

    fn is_input_complete(&self, input: StageId) -> bool {
        let sources = self.engine.plan.stage(input).sources(self.engine.plan.shards);
        sources.into_iter().all(|source| self.tracker.is_complete(source))
    }

    fn bind_gathered(&self, stage: &Stage) -> Result<Arc<dyn ExecutionPlan>, Error> {
        Ok(bind(&stage.plan, &mut |leaf, plan| match leaf {
            Leaf::Stage(input) => Ok(match self.inputs.get(input) {
                Some(gathered) => gathered.source(plan),
                None => Gathered::new(&self.engine, *input).source(plan),
            }),
            Leaf::Table { name, .. } => {
                datafusion::common::internal_err!("table {name} is read by a shard")
            }
        })?)
    }

    /// Gives up the inputs that no stage waits for any more.
    fn forget_unneeded(&mut self) {
        let inputs: Vec<StageId> = self.inputs.keys().copied().collect();
        for input in inputs {
            if !self.is_needed(input) {
                self.inputs.remove(&input);
            }
        }
    }

    fn is_needed(&self, input: StageId) -> bool {
        let plan = &self.engine.plan;
        self.waiting.iter().any(|stage| plan.stage(*stage).inputs.contains(&input))
    }
}
