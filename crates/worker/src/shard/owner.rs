//! A shard and what its owner has to see to.

use std::collections::BTreeSet;
use std::sync::Arc;

use caudal_broker::{Consumer, Delivery, DeliveryTag};
use caudal_core::{ShardId, StageId, limits};
use caudal_engine::{Shard, StageOutput, Taken};
use caudal_protocol::ipc::{decode_batches, encode_batches};
use caudal_protocol::{Failure, Message, wire};
use caudal_runtime::{compute, failpoint, task};
use caudal_store::{Allowance, Committed, Journal, Record as LogRecord};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tracing::info;

use crate::durable::Durable;
use crate::record::{EarlyAnswer, Record, Takeover};
use crate::shard::complete;
use crate::{Error, Worker, mutants};

pub struct Owner {
    worker: Worker,
    id: ShardId,
    /// Away while it computes.
    shard: Option<Shard>,
    /// None where nothing could outlive this process.
    journal: Option<Journal>,
    /// What the journal and outputs may take of the store.
    allowance: Allowance,
    /// Everything answered early so far, by where it is: part of a snapshot.
    early: Vec<EarlyAnswer>,
    /// Stages whose output is committed: part of a snapshot.
    done: BTreeSet<StageId>,
    /// Stages that are running: no snapshot as long as there are any, for their inputs are not in
    /// the state any more and their outputs not yet in the journal.
    running: BTreeSet<StageId>,
    /// Outputs that are being made or published.
    pub outputs: JoinSet<Result<OutputEvent, Error>>,
    /// Held until everything is published, so that a successor would find it.
    baton: Option<DeliveryTag>,
}

/// The end of a task that makes or publishes output.
pub enum OutputEvent {
    /// The output of a stage is committed and published, or will never be there.
    Stage(StageId),
    Other,
}

impl Owner {
    /// The baton goes with the subscription that it came by.
    #[cfg(debug_assertions)]
    pub fn without_baton(mut self) -> Self {
        self.baton = None;
        self
    }

    /// Takes the shard up where its journal says it was.
    pub async fn take_over(worker: &Worker, id: ShardId, redelivered: bool) -> Result<Self, Error> {
        let mut owner = Self {
            worker: worker.clone(),
            id,
            shard: Some(Shard::new(id, Arc::clone(&worker.engine), &BTreeSet::new())),
            journal: None,
            allowance: Allowance::new(u64::MAX),
            early: vec![],
            done: BTreeSet::new(),
            running: BTreeSet::new(),
            outputs: JoinSet::new(),
            baton: None,
        };
        if let Some(durable) = worker.durable.clone() {
            owner.load(&durable, redelivered).await?;
        }
        owner.run_complete_stages().await?;
        Ok(owner)
    }

    async fn load(&mut self, durable: &Durable, redelivered: bool) -> Result<(), Error> {
        let outputs = committed_outputs(&self.worker, durable, self.id).await?;
        self.done = outputs.iter().map(|(stage, _)| *stage).collect();
        self.shard = Some(Shard::new(self.id, Arc::clone(&self.worker.engine), &self.done));
        let bytes_max = limits::SESSION_STORE_BYTES_MAX as usize;
        let bytes_max = failpoint::knob("session_store_bytes_max", bytes_max) as u64;
        let bytes_max = bytes_max / self.worker.engine.plan.shards as u64;
        let mut loader = durable.records.load_journal(self.id, bytes_max).await?;
        let mut deaths = Deaths::default();
        let mut records = 0;
        while let Some(LogRecord::Snapshot(body) | LogRecord::Entry(body)) = loader.next().await? {
            let record = Record::decode(body)?;
            deaths.see(record.takeover);
            self.restore(durable, record).await?;
            records += 1;
        }
        let mut journal = loader.into_journal();
        self.allowance = journal.allowance();
        let early = self.early.iter().map(|early| early.rows_bytes);
        for bytes in outputs.iter().map(|(_, output)| output.bytes()).chain(early) {
            self.allowance.add_output(bytes);
        }
        if redelivered || records > 0 {
            let (session, shard, deaths) = (durable.session(), self.id, deaths.in_a_row);
            info!(%session, shard = shard.0, records, deaths, "shard taken over");
            Worker::count(&self.worker.counts.takeovers, 1);
            if deaths >= limits::SHARD_DEATHS_MAX {
                return Err(Error::PoisonShard { shard, deaths });
            }
            // Also tells a predecessor that is still alive: its next record will fail.
            let takeover = Takeover { with_work: redelivered, committed: self.done.len() };
            let record = Record { takeover: Some(takeover), ..Record::default() };
            journal.append(record.encode()?).await?;
        }
        self.journal = Some(journal);
        // Others may have owned the shard meanwhile, been asked to publish again what was lost, and died of it.
        self.worker.forget_failures();
        self.publish_again(outputs);
        self.end_failed_stages();
        Ok(())
    }

    async fn restore(&mut self, durable: &Durable, record: Record) -> Result<(), Error> {
        if !record.done.iter().all(|stage| self.done.contains(stage)) {
            // Committed after we looked: what its inputs were is not here any more.
            return Err(Error::Superseded { shard: self.id });
        }
        let Record { state, messages, early, .. } = record;
        self.early.extend(&early);
        let restored = self.compute(|shard| {
            async move {
                shard.restore(state).await?;
                for message in messages {
                    take_one(shard, &wire::decode(message)?).await?;
                }
                Ok::<_, Error>(())
            }
            .boxed()
        });
        restored.await??;
        for EarlyAnswer { stage, number, attempt, .. } in early {
            let rows = durable.records.read_early(self.id, stage, attempt).await?;
            let restored = self.compute(move |shard| {
                async move {
                    let rows = decode_batches(rows).map_err(wire::Error::from)?;
                    Ok::<_, Error>(shard.restore_early(stage, number, &rows)?)
                }
                .boxed()
            });
            restored.await??;
        }
        Ok(())
    }

    /// Publishes what a predecessor may not have.
    fn publish_again(&mut self, outputs: Vec<(StageId, Committed)>) {
        if !self.early.is_empty() {
            let (worker, shard, early) = (self.worker.clone(), self.id, self.early.clone());
            let publishing = complete::publish_early_again(worker, shard, early);
            task::spawn_on(&mut self.outputs, publishing);
        }
        for (stage, output) in outputs {
            let publishing = complete::publish(self.worker.clone(), stage, output);
            task::spawn_on(&mut self.outputs, publishing);
        }
    }

    /// Publishes all output once more: a queue was lost with what this owner had put into it. Whoever takes over from here on
    /// does the same, so nothing has to be written down.
    async fn republish(&mut self) -> Result<(), Error> {
        if let Some(durable) = self.worker.durable.clone() {
            info!(session = %durable.session(), shard = self.id.0, "publishes again");
            let outputs = committed_outputs(&self.worker, &durable, self.id).await?;
            // Failures were lost like everything else that was in the queue.
            self.worker.forget_failures();
            self.publish_again(outputs);
        }
        Ok(())
    }

    /// Takes a group of deliveries: into memory, into the journal, and only then are they
    /// acknowledged.
    pub async fn take(
        &mut self,
        group: Vec<Delivery>,
        consumer: &dyn Consumer,
    ) -> Result<(), Error> {
        let bytes = group.iter().map(|delivery| delivery.message.size_bytes()).sum();
        let _memory = self.worker.engine.hold("deliveries", bytes);
        let mut record = Record::default();
        let mut taken = vec![];
        let (mut redelivered, mut duplicates) = (0, 0);
        let (batons, group): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|it| matches!(it.message.as_ref(), Message::Baton));
        for baton in batons {
            redelivered += u64::from(baton.redelivered);
            self.hold(baton.tag, consumer).await?;
        }
        if group.iter().any(|it| matches!(it.message.as_ref(), Message::Republish)) {
            self.republish().await?;
        }
        let gathered = self.gather(&group).await?;
        for (Delivery { tag, message, encoded, redelivered: again }, gathered) in
            group.into_iter().zip(gathered)
        {
            redelivered += u64::from(again);
            match gathered {
                Taken::Duplicate => duplicates += 1,
                Taken::Yes if self.journal.is_none() => {}
                Taken::Yes => record.messages.push(match encoded {
                    Some(encoded) => encoded,
                    None => wire::encode(&message)?,
                }),
            }
            taken.push(tag);
        }
        self.report(redelivered, duplicates);
        let early = self.answer_early(&mut record).await?;
        mutants::ack_before_journal(&mut taken, consumer).await?;
        self.write_down(&record).await?;
        // Not before: who has lost the shard must not commit what is its own trouble.
        self.end_failed_stages();
        for tag in taken {
            consumer.ack(tag).await?;
        }
        self.early.extend(&record.early);
        for (stage, output) in early {
            self.publish_early(stage, output);
        }
        self.run_complete_stages().await?;
        self.snapshot().await
    }

    /// Takes messages into memory. Partial states are merged, which may take its time.
    async fn gather(&mut self, group: &[Delivery]) -> Result<Vec<Taken>, Error> {
        let messages: Vec<_> = group.iter().map(|it| Arc::clone(&it.message)).collect();
        let gathered = self.compute(|shard| {
            async move {
                let mut taken = Vec::with_capacity(messages.len());
                for message in messages {
                    taken.push(take_one(shard, &message).await?);
                }
                Ok(taken)
            }
            .boxed()
        });
        gathered.await?
    }

    /// Lets the shard compute: not here, where batons and messages wait to be seen to.
    async fn compute<T: Send + 'static>(
        &mut self,
        work: impl for<'a> FnOnce(&'a mut Shard) -> BoxFuture<'a, T> + Send + 'static,
    ) -> Result<T, Error> {
        let mut shard = self.shard.take().expect(HERE);
        let computing = self.worker.place.run(async move {
            let made = work(&mut shard).await;
            (shard, made)
        });
        let at_work = self.worker.begin(format!("rows that shard {} gathers", self.id));
        let (shard, made) = computing.await.map_err(Error::Panicked)?;
        drop(at_work);
        self.shard = Some(shard);
        Ok(made)
    }

    fn shard(&mut self) -> &mut Shard {
        self.shard.as_mut().expect(HERE)
    }

    fn report(&self, redelivered: u64, duplicates: u64) {
        Worker::count(&self.worker.counts.redelivered, redelivered);
        Worker::count(&self.worker.counts.duplicates, duplicates);
        if self.journal.is_some() && redelivered + duplicates > 0 {
            let (session, shard) = (&self.worker.queues.session, self.id.0);
            info!(%session, shard, redelivered, duplicates, "saw messages again");
        }
    }

    async fn write_down(&mut self, record: &Record) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if record.is_empty() {
            return Ok(());
        }
        failpoint::hit("shard.before_journal");
        journal.append(record.encode()?).await?;
        failpoint::hit("shard.journaled");
        Ok(())
    }

    /// Says that it leaves of its own accord: its successor is not to count that as a death.
    pub async fn leave(&mut self) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        journal.append(Record::default().encode()?).await?;
        Ok(())
    }

    /// Deliveries that are kept unacknowledged.
    pub fn held(&self) -> usize {
        usize::from(self.baton.is_some())
    }

    /// Keeps the baton. A second one is a repetition of the first.
    async fn hold(&mut self, baton: DeliveryTag, consumer: &dyn Consumer) -> Result<(), Error> {
        if mutants::no_baton(baton, consumer).await? {
            return Ok(());
        }
        if let Some(old) = self.baton.replace(baton) {
            consumer.ack(old).await?;
        }
        Ok(())
    }

    /// A delivery may not stay unacknowledged for ever: a new baton comes before the old one goes.
    pub fn renew_baton(&mut self) {
        if self.baton.is_some() {
            let (worker, queue) = (self.worker.clone(), self.worker.queues.shard(self.id));
            task::spawn_on(&mut self.outputs, async move {
                worker.broker.send(&queue, Message::Baton).await?;
                Ok(OutputEvent::Other)
            });
        }
    }

    /// The baton, once everything is published.
    pub fn give_up_baton(&mut self) -> Option<DeliveryTag> {
        let finished = self.shard().is_done() && self.outputs.is_empty();
        if finished { self.baton.take() } else { None }
    }

    /// Early answers. They are safe, and in the record, before they go out.
    async fn answer_early(
        &mut self,
        record: &mut Record,
    ) -> Result<Vec<(StageId, StageOutput)>, Error> {
        let mut answers = vec![];
        for (stage, answer) in self.compute(|shard| shard.early_answers().boxed()).await? {
            match answer {
                Err(error) => self.fail(stage, &Failure::of(&error)),
                Ok(output) => {
                    if let Some(durable) = &self.worker.durable {
                        record.early.push(self.write_early(durable, stage, &output).await?);
                    }
                    answers.push((stage, output));
                }
            }
        }
        Ok(answers)
    }

    /// Where nobody sees them unless a record says so.
    async fn write_early(
        &self,
        durable: &Durable,
        stage: StageId,
        output: &StageOutput,
    ) -> Result<EarlyAnswer, Error> {
        let batches = output.batches.clone();
        let encoding = compute::run(async move { encode_batches(&batches) });
        let rows = encoding.await.map_err(Error::Panicked)?.map_err(wire::Error::from)?;
        let rows_bytes = rows.len() as u64;
        let attempt = durable.records.write_early(self.id, stage, rows, &self.allowance).await?;
        Ok(EarlyAnswer { stage, number: output.number, attempt, rows_bytes })
    }

    fn publish_early(&mut self, stage: StageId, output: StageOutput) {
        let (worker, shard) = (self.worker.clone(), self.id);
        let StageOutput { number, batches, .. } = output;
        task::spawn_on(&mut self.outputs, async move {
            complete::publish_early(&worker, shard, stage, number, batches).await?;
            Ok(OutputEvent::Other)
        });
    }

    async fn run_complete_stages(&mut self) -> Result<(), Error> {
        while let Some(complete) = self.shard().next_complete() {
            match complete {
                Ok(completion) => {
                    failpoint::hit("shard.complete");
                    self.running.insert(completion.stage);
                    let (worker, shard) = (self.worker.clone(), self.id);
                    let allowance = self.allowance.clone();
                    let running = complete::run_and_publish(worker, shard, completion, allowance);
                    task::spawn_on(&mut self.outputs, running);
                }
                Err((stage, error)) => self.end_failed(stage, &error),
            }
        }
        Ok(())
    }

    fn end_failed_stages(&mut self) {
        for (stage, error) in self.shard().take_failures() {
            self.end_failed(stage, &error);
        }
    }

    /// A stage that will never have rows ends with the reason, which is committed as its rows would be.
    fn end_failed(&mut self, stage: StageId, error: &caudal_engine::Error) {
        self.running.insert(stage);
        let (worker, shard, failure) = (self.worker.clone(), self.id, Failure::of(error));
        task::spawn_on(
            &mut self.outputs,
            complete::fail_and_publish(worker, shard, stage, failure),
        );
    }

    pub fn output_ended(&mut self, event: OutputEvent) {
        if let OutputEvent::Stage(stage) = event {
            self.running.remove(&stage);
            self.done.insert(stage);
        }
    }

    /// Replaces a long journal by a record of what it comes to, where that is shorter.
    async fn snapshot(&mut self) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let shard = self.shard.as_ref().expect(HERE);
        let state_bytes = shard.gathered_bytes() as u64;
        let size = journal.size();
        let records = failpoint::knob("snapshot_records", limits::SNAPSHOT_RECORDS as usize) as u64;
        let is_long = size.entries >= records && size.entries_bytes >= state_bytes / 2;
        if !is_long || !self.running.is_empty() || state_bytes > limits::SNAPSHOT_BYTES_MAX {
            return Ok(());
        }
        let Some(state) = shard.state() else { return Ok(()) };
        let done = self.done.iter().copied().collect();
        let early = self.early.clone();
        let record = Record { state, early, done, ..Record::default() };
        failpoint::hit("shard.before_snapshot");
        let encoding = compute::run(async move { record.encode() });
        journal.snapshot(encoding.await.map_err(Error::Panicked)??).await?;
        journal.compact().await?;
        Ok(())
    }

    /// Tells the queries that need a stage.
    fn fail(&mut self, stage: StageId, failure: &Failure) {
        for query in self.worker.engine.plan.stage(stage).queries.clone() {
            let (worker, failure) = (self.worker.clone(), failure.clone());
            task::spawn_on(&mut self.outputs, async move {
                worker.fail(query, failure).await?;
                Ok(OutputEvent::Other)
            });
        }
    }
}

/// The shard is away only while [`Owner::compute`] waits for it.
const HERE: &str = "the shard is here";

async fn take_one(shard: &mut Shard, message: &Message) -> Result<Taken, Error> {
    match message {
        Message::Part(part) => Ok(shard.take(part.clone()).await?),
        Message::End { source, count } => {
            shard.end(*source, *count)?;
            Ok(Taken::Yes)
        }
        Message::Baton | Message::Republish | Message::Table(_) | Message::Failed { .. } => {
            Ok(Taken::Duplicate)
        }
    }
}

/// Owners that were lost one after the other, without anything having come of them.
#[derive(Default)]
struct Deaths {
    in_a_row: usize,
    last: Option<Takeover>,
}

impl Deaths {
    fn see(&mut self, takeover: Option<Takeover>) {
        let got_on = match (self.last, takeover) {
            (Some(last), Some(takeover)) => last.committed != takeover.committed,
            (_, takeover) => takeover.is_none(),
        };
        if got_on {
            self.in_a_row = 0;
        }
        self.in_a_row += usize::from(takeover.is_some_and(|takeover| takeover.with_work));
        self.last = takeover;
    }
}

/// The stages of a shard whose output has been committed.
async fn committed_outputs(
    worker: &Worker,
    durable: &Durable,
    shard: ShardId,
) -> Result<Vec<(StageId, Committed)>, Error> {
    let mut outputs = vec![];
    for stage in worker.engine.plan.stages.iter().filter(|stage| stage.runs_on(shard)) {
        if let Some(output) = durable.records.committed_output(shard, stage.id).await? {
            outputs.push((stage.id, output));
        }
    }
    mutants::output_uncommitted(&mut outputs);
    Ok(outputs)
}
