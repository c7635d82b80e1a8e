//! Owns a shard: gathers what is sent to it, runs its stages when they are complete, sends their
//! output on.
//!
//! The loop never waits for a publish: output goes out by tasks of its own, so that full queues
//! cannot close a circle.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use caudal_broker::DeliveryTag;
use caudal_core::{Failure, FragmentId, Message, QueryId, Section, ShardId, Source, StageId};
use caudal_engine::complete::{Completion, Destination};
use caudal_engine::{Shard, StageOutput};
use futures::StreamExt;
use futures::channel::mpsc;
use tokio::task::JoinSet;

use crate::output::{Sender, split};
use crate::{Error, Worker};
use caudal_core::limits;

/// Fragments of output made ahead of their publishing.
const OUTPUT_AHEAD: usize = 2;

pub async fn serve(worker: Worker, shard: ShardId) -> Result<(), Error> {
    match serve_until_gone(worker, shard).await {
        Err(error) if error.is_session_gone() => Ok(()),
        ended => ended,
    }
}

async fn serve_until_gone(worker: Worker, id: ShardId) -> Result<(), Error> {
    let mut consumer =
        worker.broker.consume(&worker.queues.shard(id), limits::PREFETCH_MESSAGES).await?;
    let mut owner = Owner {
        shard: Shard::new(id, Arc::clone(&worker.engine)),
        outputs: JoinSet::new(),
        baton: None,
        worker,
    };
    owner.run_complete_stages().await?;
    loop {
        tokio::select! {
            delivery = consumer.next() => {
                let Some(delivery) = delivery? else { break };
                let worker = &owner.worker;
                Worker::count(&worker.counts.redelivered, u64::from(delivery.redelivered));
                if matches!(delivery.message.as_ref(), Message::Baton) {
                    owner.hold(delivery.tag, consumer.as_ref()).await?;
                    continue;
                }
                let message = Arc::unwrap_or_clone(delivery.message);
                owner.take(message).await?;
                consumer.ack(delivery.tag).await?;
                owner.answer_early().await?;
                owner.run_complete_stages().await?;
            }
            Some(published) = owner.outputs.join_next() => {
                published.map_err(Error::Panicked)??;
            }
        }
        if owner.is_finished()
            && let Some(baton) = owner.baton.take()
        {
            consumer.ack(baton).await?;
        }
    }
    Ok(())
}

/// A shard and what its owner has to see to.
struct Owner {
    worker: Worker,
    shard: Shard,
    /// Completions that are running or publishing.
    outputs: JoinSet<Result<(), Error>>,
    /// Held until everything is published, so that a successor would find it.
    baton: Option<DeliveryTag>,
}

impl Owner {
    /// Keeps the baton. A second one is a repetition of the first.
    async fn hold(
        &mut self,
        baton: DeliveryTag,
        consumer: &dyn caudal_broker::Consumer,
    ) -> Result<(), Error> {
        if let Some(old) = self.baton.replace(baton) {
            consumer.ack(old).await?;
        }
        Ok(())
    }

    async fn take(&mut self, message: Message) -> Result<(), Error> {
        let duplicates = self.shard.counts.duplicates;
        let (taken, stages) = match message {
            Message::Part(part) => {
                let stages = part.sections.iter().map(|section| section.stage).collect();
                (self.shard.take(part).await, stages)
            }
            Message::End { source, count } => (self.shard.end(source, count), vec![]),
            Message::Baton | Message::Table(_) | Message::Failed { .. } => (Ok(()), vec![]),
        };
        let counts = &self.worker.counts;
        let more = self.shard.counts.duplicates - duplicates;
        counts.duplicates.fetch_add(more, Ordering::Relaxed);
        if let Err(error) = taken {
            self.fail(&stages, &Failure::from(&error)).await?;
        }
        Ok(())
    }

    /// Says what is known already. Result queues are never full, so this waits for nobody.
    async fn answer_early(&mut self) -> Result<(), Error> {
        match self.shard.early_answers().await {
            Err((stage, error)) => self.fail(&[stage], &Failure::from(&error)).await,
            Ok(answers) => {
                for (stage, answer) in answers {
                    let source = Source::Shard { stage, shard: self.shard.id };
                    publish(&self.worker, source, self.worker.new_attempt(), answer).await?;
                }
                Ok(())
            }
        }
    }

    async fn run_complete_stages(&mut self) -> Result<(), Error> {
        while let Some(complete) = self.shard.next_complete() {
            match complete {
                Ok(completion) => {
                    let (worker, shard) = (self.worker.clone(), self.shard.id);
                    self.outputs.spawn(run_and_publish(worker, shard, completion));
                }
                Err((stage, error)) => self.fail(&[stage], &Failure::from(&error)).await?,
            }
        }
        Ok(())
    }

    /// Tells the queries that need these stages; with none named, all of them.
    async fn fail(&self, stages: &[StageId], failure: &Failure) -> Result<(), Error> {
        let plan = &self.worker.engine.plan;
        let queries: Vec<QueryId> = match stages {
            [] => (0..plan.queries.len()).map(QueryId::from).collect(),
            _ => stages.iter().flat_map(|stage| plan.stage(*stage).queries.clone()).collect(),
        };
        for query in queries {
            self.worker.fail(query, failure.clone()).await?;
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.shard.is_done() && self.outputs.is_empty()
    }
}

/// Runs a complete stage and publishes its output while it is made.
async fn run_and_publish(
    worker: Worker,
    shard: ShardId,
    completion: Completion,
) -> Result<(), Error> {
    let stage = completion.stage;
    let (sender, mut receiver) = mpsc::channel(OUTPUT_AHEAD);
    let engine = Arc::clone(&worker.engine);
    let running = tokio::spawn(async move { engine.complete(completion, sender).await });
    let attempt = worker.new_attempt();
    let mut published = Ok(());
    while let Some(output) = receiver.next().await {
        published = publish(&worker, Source::Shard { stage, shard }, attempt, output).await;
        if published.is_err() {
            break;
        }
    }
    drop(receiver);
    let ran = running.await.map_err(Error::Panicked)?;
    match published {
        Err(error) if error.is_session_gone() => return Ok(()),
        published => published?,
    }
    if let Err(error) = ran {
        let failure = Failure::from(&error);
        for query in worker.engine.plan.stage(stage).queries.clone() {
            worker.fail(query, failure.clone()).await?;
        }
    }
    Ok(())
}

async fn publish(
    worker: &Worker,
    source: Source,
    attempt: caudal_core::Attempt,
    output: StageOutput,
) -> Result<(), Error> {
    let StageOutput { to, number, end, batches } = output;
    let queue = match to {
        Destination::Shard(shard) => worker.queues.shard(shard),
        Destination::Client(query) => worker.queues.result(query),
    };
    let Source::Shard { stage, .. } = source else { unreachable!("outputs come from shards") };
    let sender = Sender { worker, id: FragmentId { source, number }, attempt, end };
    sender.send(&queue, split(vec![Section { stage, batches }])).await
}
