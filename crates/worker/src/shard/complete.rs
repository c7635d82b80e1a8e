//! Runs complete stages and publishes what they make.
//!
//! If it has to survive this process, output is committed to the store first, and what is
//! published is what was committed: two runs may divide the same rows differently, so an owner that finds a
//! commit publishes that one, never its own.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use caudal_core::{FragmentId, ShardId, Source, StageId, limits};
use caudal_engine::StageOutput;
use caudal_engine::complete::{Completion, Destination};
use caudal_protocol::ipc::decode_batches;
use caudal_protocol::wire::{self, frame, unframe};
use caudal_protocol::{Failure, Message, Section};
use caudal_runtime::time::sleep;
use caudal_runtime::{Backoff, compute, failpoint};
use caudal_store::{Allowance, Committed, OutputWriter};
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
    allowance: Allowance,
) -> Result<OutputEvent, Error> {
    let (stage, completion) = (completion.stage, Arc::new(completion));
    let ran = match worker.durable.clone() {
        None => run(&worker, shard, &completion, To::Broker).await?,
        Some(durable) => run_and_commit(&worker, &durable, shard, &completion, &allowance).await?,
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
    let failed = queries.clone();
    for query in queries {
        let message = wire::encode(&Message::Failed { query, failure: failure.clone() })?;
        let queue = worker.queues.result(query);
        writer.push(frame(&Address { queue }, &[message])?).await?;
    }
    let output = writer.commit().await?;
    tracing::debug!(session = %durable.session(), shard = shard.0, %stage, "failure committed");
    let published = publish(worker.clone(), stage, output).await?;
    failed.into_iter().for_each(|query| worker.has_failed(query));
    Ok(published)
}

async fn run_and_commit(
    worker: &Worker,
    durable: &Durable,
    shard: ShardId,
    completion: &Arc<Completion>,
    allowance: &Allowance,
) -> Result<Result<(), caudal_engine::Error>, Error> {
    let stage = completion.stage;
    let mut retries = 0;
    let (ran, writer) = loop {
        let writer = durable.records.output_writer(shard, stage);
        let mut writer = writer.within(allowance.clone());
        let others = worker.engine.completions();
        let ran = run(worker, shard, completion, To::Journal(&mut writer)).await?;
        // Others had their part of the memory: it may suffice when they are done.
        let others = others.max(worker.engine.completions());
        let may_help = others > 0 && retries < limits::MEMORY_RETRIES_MAX;
        if !matches!(ran, Err(caudal_engine::Error::Memory(_))) || !may_help {
            break (ran, writer);
        }
        tracing::info!(session = %durable.session(), shard = shard.0, %stage, others, "tries again for want of memory");
        sleep(MEMORY_RETRY.pause(retries)).await;
        retries += 1;
    };
    if ran.is_ok() {
        let output = writer.commit().await?;
        failpoint::hit("shard.committed");
        tracing::debug!(session = %durable.session(), shard = shard.0, %stage, "output committed");
        publish(worker.clone(), stage, output).await?;
    }
    Ok(ran)
}

/// Before a stage is run again that found too little memory.
const MEMORY_RETRY: Backoff =
    Backoff::new(limits::MEMORY_RETRY_MS_MIN, limits::MEMORY_RETRY_MS_MAX);

/// The destination of output as it is made.
enum To<'a> {
    Broker,
    Journal(&'a mut OutputWriter),
}

/// The inner error is the stage's own: its queries fail, the worker does not.
async fn run(
    worker: &Worker,
    shard: ShardId,
    completion: &Arc<Completion>,
    mut to: To<'_>,
) -> Result<Result<(), caudal_engine::Error>, Error> {
    let stage = completion.stage;
    let (sender, mut receiver) = mpsc::channel(limits::OUTPUT_AHEAD_FRAGMENTS);
    let engine = Arc::clone(&worker.engine);
    let completion = Arc::clone(completion);
    let running = compute::spawn(async move { engine.complete(&completion, sender).await });
    let queries = &worker.engine.plan.stage(stage).queries;
    let queries = queries.iter().map(|query| worker.engine.plan.query(*query).name.as_str());
    let queries = queries.collect::<Vec<_>>().join(", ");
    let _at_work = worker.begin(format!("stage {stage} of {queries}, at shard {shard}"));
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
            if !worker.is_failed(&queue) {
                worker.send_encoded(&queue, message).await?;
            }
            Ok::<_, Error>(())
        })
        .buffer_unordered(limits::OUTPUT_MESSAGES_IN_FLIGHT)
        .try_collect::<()>()
        .await?;
    Ok(OutputEvent::Stage(stage))
}

/// Publishes what an earlier owner has answered early, and may not have published.
pub async fn publish_early_again(
    worker: Worker,
    shard: ShardId,
    answers: Vec<EarlyAnswer>,
) -> Result<OutputEvent, Error> {
    let Some(durable) = &worker.durable else { return Ok(OutputEvent::Other) };
    for EarlyAnswer { stage, number, attempt, .. } in answers {
        let rows = durable.records.read_early(shard, stage, attempt).await?;
        let batches = decode_batches(rows).map_err(wire::Error::from)?;
        publish_early(&worker, shard, stage, number, batches).await?;
    }
    Ok(OutputEvent::Other)
}

pub async fn publish_early(
    worker: &Worker,
    shard: ShardId,
    stage: StageId,
    number: u32,
    batches: Vec<RecordBatch>,
) -> Result<(), Error> {
    let caudal_planner::stage::Output::Result(query) = worker.engine.plan.stage(stage).output
    else {
        unreachable!("only answers to clients are given early")
    };
    let id = FragmentId { source: Source::Shard { stage, shard }, number };
    let sender = Sender { worker, id, attempt: worker.new_attempt(), end: None };
    let parts = split_answer(stage, batches);
    sender.send(&worker.queues.result(query), parts).await
}
