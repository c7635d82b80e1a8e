//! A cluster reduced to what the engine sees of it: fragments that are mapped, messages that are delivered in
//! random order and more than once, shards that change hands, a client that remembers what it has seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use caudal_core::{
    Attempt, FragmentId, Offer, Part, QueryId, ShardId, Source, StageId, TableId, Tracker,
};
use caudal_engine::complete::Destination;
use caudal_engine::{Engine, Memory, Shard, StageOutput, Taken};
use caudal_oracle::{Table, fragments};
use caudal_planner::{QuerySpec, SessionPlan, SessionSpec, TableSpec};
use caudal_protocol::{Failure, FragmentPart, Section, TableFragment};
use fastrand::Rng;
use futures::StreamExt;
use futures::channel::mpsc;

/// Rows of a fragment.
const FRAGMENT_ROWS_MAX: usize = 60;

/// Faults that can occur, each as one chance in so many; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A fragment is mapped twice.
    pub mapped_twice: u32,
    /// A message is delivered again.
    pub delivered_twice: u32,
    /// A shard's state goes to another owner between two messages.
    pub takeover: u32,
}

/// Counts of what occurred: a test has to show that it did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Happened {
    pub duplicates: usize,
    pub takeovers: usize,
    pub early_rows: usize,
}

pub struct Cluster {
    engine: Arc<Engine>,
    shards: Vec<Shard>,
    /// Of each shard: stages that are done, and what was answered early.
    done: Vec<BTreeSet<StageId>>,
    said: Vec<Vec<(StageId, u32, Vec<RecordBatch>)>>,
    messages: Vec<Message>,
    client: Client,
    faults: Faults,
    rng: Rng,
    pub happened: Happened,
}

#[derive(Clone)]
enum Message {
    Part(Destination, FragmentPart),
    End(Destination, Source, u32),
}

/// The rows of each query's answer, each taken once, and why there are none.
#[derive(Default)]
struct Client {
    trackers: BTreeMap<QueryId, Tracker<Vec<Section>>>,
    rows: BTreeMap<QueryId, Vec<RecordBatch>>,
    failures: BTreeMap<QueryId, Failure>,
}

pub async fn plan(tables: &[Table], queries: &[&str], shards: usize) -> Arc<SessionPlan> {
    let table = |table: &Table| TableSpec { name: table.name.clone(), schema: table.rows.schema() };
    let query = |(number, sql): (usize, &&str)| QuerySpec {
        name: format!("q{number}"),
        sql: sql.to_string(),
        params: vec![],
    };
    let spec = SessionSpec {
        tables: tables.iter().map(table).collect(),
        queries: queries.iter().enumerate().map(query).collect(),
        shards,
        started: chrono::Utc::now(),
    };
    Arc::new(caudal_planner::plan(&spec).await.unwrap())
}

impl Cluster {
    pub fn new(plan: Arc<SessionPlan>, memory_bytes: usize, faults: Faults, seed: u64) -> Self {
        let engine = Arc::new(Engine::new(plan, &Memory::new(memory_bytes).unwrap()));
        let none = BTreeSet::new();
        let shards: Vec<_> =
            engine.plan.shard_ids().map(|id| Shard::new(id, Arc::clone(&engine), &none)).collect();
        Self {
            done: shards.iter().map(|_| BTreeSet::new()).collect(),
            said: shards.iter().map(|_| vec![]).collect(),
            shards,
            engine,
            messages: vec![],
            client: Client::default(),
            faults,
            rng: Rng::with_seed(seed),
            happened: Happened::default(),
        }
    }

    /// Runs to the end; of each query its rows, or why there are none.
    pub async fn answers(&mut self, tables: &[Table]) -> Vec<Result<Vec<RecordBatch>, Failure>> {
        for shard in 0..self.shards.len() {
            self.run_complete_stages(shard).await;
        }
        for (index, table) in tables.iter().enumerate() {
            self.send_table(index.into(), table).await;
        }
        while !self.messages.is_empty() {
            let next = self.rng.usize(..self.messages.len());
            let message = self.messages.swap_remove(next);
            if self.strikes(self.faults.delivered_twice) {
                self.messages.push(message.clone());
            }
            self.deliver(message).await;
        }
        let queries = (0..self.engine.plan.queries.len()).map(QueryId::from);
        queries.map(|query| self.client.answer(query, &self.engine.plan)).collect()
    }

    pub fn spilled_bytes(&self) -> u64 {
        self.engine.spilled_bytes()
    }

    fn strikes(&mut self, one_in: u32) -> bool {
        one_in > 0 && self.rng.u32(..one_in) == 0
    }

    async fn send_table(&mut self, table: TableId, rows: &Table) {
        let plan = Arc::clone(&self.engine.plan);
        let needs = &plan.table(table).needs;
        if !needs.needed {
            return;
        }
        let pieces = fragments(&rows.rows, FRAGMENT_ROWS_MAX, &mut self.rng);
        let count = u32::try_from(pieces.len()).unwrap();
        for (number, piece) in (0..).zip(pieces) {
            let options = RecordBatchOptions::new().with_row_count(Some(piece.num_rows()));
            let columns =
                needs.columns.iter().map(|column| Arc::clone(piece.column(*column))).collect();
            let batch =
                RecordBatch::try_new_with_options(Arc::clone(&needs.schema), columns, &options)
                    .unwrap();
            let fragment = TableFragment::new(table, number, batch);
            self.map(&fragment).await;
            if self.strikes(self.faults.mapped_twice) {
                self.map(&fragment).await;
            }
        }
        let source = Source::Table(table);
        let shards = plan.shards_reading(table).into_iter().map(Destination::Shard);
        let queries = (0..plan.queries.len()).map(QueryId::from);
        let clients =
            queries.filter(|query| plan.sources(*query).contains(&source)).map(Destination::Client);
        self.messages.extend(shards.chain(clients).map(|to| Message::End(to, source, count)));
    }

    async fn map(&mut self, fragment: &TableFragment) {
        let output = self.engine.map(fragment).await;
        for (query, failure) in output.failures {
            self.client.failures.entry(query).or_insert(failure);
        }
        let id = FragmentId { source: Source::Table(fragment.table), number: fragment.number };
        let attempt = Attempt(self.rng.u64(..));
        for (shard, sections) in output.shards {
            self.send(Destination::Shard(shard), id, attempt, None, sections);
        }
        for (query, batches) in output.results {
            let stage = self.engine.plan.root(query).unwrap();
            self.send(
                Destination::Client(query),
                id,
                attempt,
                None,
                vec![Section { stage, batches }],
            );
        }
    }

    /// In one part, or in one for each section.
    fn send(
        &mut self,
        to: Destination,
        id: FragmentId,
        attempt: Attempt,
        end: Option<u32>,
        sections: Vec<Section>,
    ) {
        let parts = match sections.len() {
            0 | 1 => vec![sections],
            _ => sections.into_iter().map(|section| vec![section]).collect(),
        };
        let count = u32::try_from(parts.len()).unwrap();
        for (index, sections) in (0..).zip(parts) {
            let part = Part { attempt, index, count };
            self.messages.push(Message::Part(to, FragmentPart { id, part, end, sections }));
        }
    }

    async fn deliver(&mut self, message: Message) {
        match message {
            Message::Part(Destination::Client(query), part) => self.client.take(query, part),
            Message::End(Destination::Client(query), source, count) => {
                self.client.end(query, source, count)
            }
            Message::Part(Destination::Shard(shard), part) => {
                let taken = self.shards[shard.index()].take(part).await.unwrap();
                self.happened.duplicates += usize::from(taken == Taken::Duplicate);
                self.after(shard).await;
            }
            Message::End(Destination::Shard(shard), source, count) => {
                self.shards[shard.index()].end(source, count).unwrap();
                self.after(shard).await;
            }
        }
    }

    async fn after(&mut self, shard: ShardId) {
        if self.strikes(self.faults.takeover) {
            self.take_over(shard.index()).await;
        }
        self.answer_early(shard.index()).await;
        self.run_complete_stages(shard.index()).await;
    }

    /// Another owner has nothing but what the first one could write down.
    async fn take_over(&mut self, shard: usize) {
        let Some(state) = self.shards[shard].state() else { return };
        let mut next = Shard::new(shard.into(), Arc::clone(&self.engine), &self.done[shard]);
        next.restore(state).await.unwrap();
        for (stage, number, batches) in &self.said[shard] {
            next.restore_early(*stage, *number, batches).unwrap();
        }
        self.shards[shard] = next;
        self.happened.takeovers += 1;
    }

    async fn answer_early(&mut self, shard: usize) {
        for (stage, output) in self.shards[shard].early_answers().await {
            let output = output.unwrap();
            self.happened.early_rows +=
                output.batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            self.said[shard].push((stage, output.number, output.batches.clone()));
            self.publish(shard, stage, output);
        }
    }

    async fn run_complete_stages(&mut self, shard: usize) {
        while let Some(completion) = self.shards[shard].next_complete() {
            let completion = completion.map_err(|(_, error)| error).unwrap();
            let stage = completion.stage;
            let (sender, outputs) = mpsc::channel(1);
            let (ran, outputs) = futures::join!(
                self.engine.complete(&completion, sender),
                outputs.collect::<Vec<_>>()
            );
            self.done[shard].insert(stage);
            if let Err(error) = ran {
                let failure = Failure::of(&error);
                for query in &self.engine.plan.stage(stage).queries {
                    self.client.failures.entry(*query).or_insert(failure.clone());
                }
                continue;
            }
            for output in outputs {
                self.publish(shard, stage, output);
            }
        }
    }

    fn publish(&mut self, shard: usize, stage: StageId, output: StageOutput) {
        let StageOutput { to, number, end, batches } = output;
        let id = FragmentId { source: Source::Shard { stage, shard: shard.into() }, number };
        let attempt = Attempt(self.rng.u64(..));
        self.send(to, id, attempt, end, vec![Section { stage, batches }]);
    }
}

impl Client {
    fn take(&mut self, query: QueryId, part: FragmentPart) {
        if let Some(count) = part.end {
            self.end(query, part.id.source, count);
        }
        let tracker = self.trackers.entry(query).or_default();
        if let Offer::Taken(parts) = tracker.offer(part.id, part.part, part.sections).unwrap() {
            let sections = parts.into_iter().flatten();
            self.rows
                .entry(query)
                .or_default()
                .extend(sections.flat_map(|section| section.batches));
        }
    }

    fn end(&mut self, query: QueryId, source: Source, count: u32) {
        self.trackers.entry(query).or_default().end(source, count).unwrap();
    }

    fn answer(&mut self, query: QueryId, plan: &SessionPlan) -> Result<Vec<RecordBatch>, Failure> {
        if let Some(failure) = self.failures.remove(&query) {
            return Err(failure);
        }
        let tracker = self.trackers.entry(query).or_default();
        let sources = plan.sources(query);
        assert!(
            sources.iter().all(|source| tracker.is_complete(*source)),
            "{query} is not complete: {sources:?}"
        );
        Ok(self.rows.remove(&query).unwrap_or_default())
    }
}
