//! Runs complete stages and publishes what they make.
//!
//! If it has to survive this process, output is committed to the store first, and what is
//! published is what was committed: two runs may divide the same rows differently, so an owner that finds a
//! commit publishes that one, never its own.

use std::sync::Arc;

use bytes::Bytes;
use caudal_core::{FragmentId, ShardId, Source, StageId, limits};
use caudal_engine::StageOutput;
use caudal_engine::complete::{Completion, Destination};
use caudal_protocol::wire::{self, frame, unframe};
use caudal_protocol::{Failure, Message, Section};
use caudal_runtime::{compute, failpoint};
use caudal_store::{Committed, OutputWriter};
use futures::channel::mpsc;
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::durable::Durable;
use crate::output::{Sender, split, split_answer};
use crate::record::EarlyAnswer;
use crate::shard::owner::OutputEvent;
use crate::{Error, Worker, mutants};

/// Before each message of a committed output: where it goes.
#[derive(Serialize, Deserialize)]
struct Address {
    queue: String,
}

pub async fn run_and_publish(
    worker: Worker,
    shard: ShardId,
    completion: Completion,
) -> Result<OutputEvent, Error> {
    let stage = completion.stage;
    let ran = match worker.durable.clone() {
        None => run(&worker, shard, completion, To::Broker).await?,
        Some(durable) => {
            let writer = durable.records.output_writer(shard, stage);
            run_and_commit(&worker, &durable, shard, completion, writer).await?
        }
    };
    match ran {
        Ok(()) => Ok(OutputEvent::Stage(stage)),
        Err(error) => fail_and_publish(worker, shard, stage, Failure::of(&error)).await,
    }
}

/// Ends a stage that failed. Its failure is committed like an output: a successor that finds its inputs gone finds that
/// the stage is done, and says again what became of it.
pub async fn fail_and_publish(
    worker: Worker,
    shard: ShardId,
    stage: StageId,
    failure: Failure,
) -> Result<OutputEvent, Error> {
    let queries = worker.engine.plan.stage(stage).queries.clone();
    let Some(durable) = worker.durable.clone().filter(|_| !mutants::failure_uncommitted()) else {
        for query in queries {
            worker.fail(query, failure.clone()).await?;
        }
        return Ok(OutputEvent::Stage(stage));
    };
    let mut writer = durable.records.output_writer(shard, stage);
    for query in queries {
        let message = wire::encode(&Message::Failed { query, failure: failure.clone() })?;
        let queue = worker.queues.result(query);
        writer.push(frame(&Address { queue }, &[message])?).await?;
    }
    let output = writer.commit().await?;
    tracing::debug!(session = %durable.session(), shard = shard.0, %stage, "failure committed");
    publish(worker, stage, output).await
}

async fn run_and_commit(
    worker: &Worker,
    durable: &Durable,
    shard: ShardId,
    completion: Completion,
    mut writer: OutputWriter,
) -> Result<Result<(), caudal_engine::Error>, Error> {
    let stage = completion.stage;
    let ran = run(worker, shard, completion, To::Journal(&mut writer)).await?;
    if ran.is_ok() {
        let output = writer.commit().await?;
        failpoint::hit("shard.committed");
        tracing::debug!(session = %durable.session(), shard = shard.0, %stage, "output committed");
        publish(worker.clone(), stage, output).await?;
    }
    Ok(ran)
}

/// The destination of output as it is made.
enum To<'a> {
    Broker,
    Journal(&'a mut OutputWriter),
}

/// The inner error is the stage's own: its queries fail, the worker does not.
async fn run(
    worker: &Worker,
    shard: ShardId,
    completion: Completion,
    mut to: To<'_>,
) -> Result<Result<(), caudal_engine::Error>, Error> {
    let stage = completion.stage;
    let (sender, mut receiver) = mpsc::channel(limits::OUTPUT_AHEAD_FRAGMENTS);
    let engine = Arc::clone(&worker.engine);
    let running = compute::spawn(async move { engine.complete(completion, sender).await });
    let attempt = worker.new_attempt();
    while let Some(StageOutput { to: destination, number, end, batches }) = receiver.next().await {
        let queue = queue_of(worker, destination);
        let id = FragmentId { source: Source::Shard { stage, shard }, number };
        let sender = Sender { worker, id, attempt, end };
        let parts = match destination {
            Destination::Client(_) => split_answer(stage, batches),
            Destination::Shard(_) => split(vec![Section { stage, batches }]),
        };
        match &mut to {
            To::Broker => sender.send(&queue, parts).await?,
            To::Journal(writer) => {
                for message in sender.messages(parts) {
                    let message = wire::encode(&message)?;
                    writer.push(frame(&Address { queue: queue.clone() }, &[message])?).await?;
                    failpoint::hit("shard.completing");
                }
            }
        }
    }
    running.await.map_err(Error::Panicked)
}

fn queue_of(worker: &Worker, destination: Destination) -> String {
    match destination {
        Destination::Shard(shard) => worker.queues.shard(shard),
        Destination::Client(query) => worker.queues.result(query),
    }
}

/// Publishes a committed output, from the journal.
pub async fn publish(
    worker: Worker,
    stage: StageId,
    output: Committed,
) -> Result<OutputEvent, Error> {
    let (worker, output) = (&worker, &output);
    stream::iter(0..output.len())
        .map(|index| async move {
            let (Address { queue }, message): (_, Bytes) = unframe(output.read(index).await?)?;
            worker.send_encoded(&queue, message).await
        })
        .buffer_unordered(limits::OUTPUT_MESSAGES_IN_FLIGHT)
        .try_collect::<()>()
        .await?;
    Ok(OutputEvent::Stage(stage))
}

pub async fn publish_early(
    worker: Worker,
    shard: ShardId,
    early: EarlyAnswer,
) -> Result<OutputEvent, Error> {
    let EarlyAnswer { stage, number, batches } = early;
    let caudal_planner::stage::Output::Result(query) = worker.engine.plan.stage(stage).output
    else {
        unreachable!("only answers to clients are given early")
    };
    let id = FragmentId { source: Source::Shard { stage, shard }, number };
    let sender = Sender { worker: &worker, id, attempt: worker.new_attempt(), end: None };
    let parts = split_answer(stage, batches);
    sender.send(&worker.queues.result(query), parts).await?;
    Ok(OutputEvent::Other)
}
