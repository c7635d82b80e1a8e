//! Owns a shard: gathers what is sent to it, runs its stages when they are complete, sends their
//! output on.
//!
//! Every worker stands by for every shard; the first delivery says that it is this one's turn. What
//! it knows then is what the journal says: memory never outlives its consumer.
//!
//! The loop never waits for a publish: output goes out by tasks of its own, so that full queues
//! cannot close a circle.

mod complete;
mod owner;

use std::collections::hash_map::DefaultHasher;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use caudal_broker::{Consumer, Delivery};
use caudal_core::{ShardId, limits};
use caudal_protocol::Message;
use caudal_runtime::failpoint;
use caudal_runtime::time;
use futures::FutureExt;
use tracing::warn;

pub use self::owner::Owner;
use crate::{Error, Worker, mutants};

pub async fn subscribe(worker: &Worker, id: ShardId) -> Result<Box<dyn Consumer>, Error> {
    wait_for_turn(worker, id).await;
    Ok(worker.broker.consume(&worker.queues.shard(id), limits::PREFETCH_MESSAGES).await?)
}

/// Returns when the queue is gone or the worker is to leave. Tells of everything that is safe.
pub async fn serve(
    worker: &Worker,
    id: ShardId,
    mut consumer: Box<dyn Consumer>,
    progress: impl FnMut(),
) -> Result<(), Error> {
    let first = tokio::select! {
        biased;
        () = worker.stopped() => None,
        first = consumer.next() => first?,
    };
    let Some(first) = first else { return Ok(()) };
    let mut owner = match mutants::memory_kept(worker, id) {
        Some(kept) => kept,
        None => take_over(worker, id, first.redelivered).await?,
    };
    let owned = own(worker, &mut owner, first, consumer.as_mut(), progress).await;
    mutants::keep_memory(worker, id, owner);
    owned
}

/// Takes a shard over. A long journal takes long to load, and the baton that came with the first delivery may not stay
/// unacknowledged for ever: new ones follow it.
async fn take_over(worker: &Worker, id: ShardId, redelivered: bool) -> Result<Owner, Error> {
    tokio::select! {
        biased;
        taken = Owner::take_over(worker, id, redelivered) => taken,
        never = renew_batons(worker, id) => match never {},
    }
}

/// Beside the load, not in its way: a send waits for capacity, and nobody takes from the queue before the load is done.
async fn renew_batons(worker: &Worker, id: ShardId) -> Infallible {
    let mut renew = baton_renewals();
    loop {
        renew.tick().await;
        if let Err(error) = worker.broker.send(&worker.queues.shard(id), Message::Baton).await {
            warn!(session = %worker.queues.session, %error, "cannot renew the baton");
        }
    }
}

/// Owns the shard, from its first delivery on.
async fn own(
    worker: &Worker,
    owner: &mut Owner,
    first: Delivery,
    consumer: &mut dyn Consumer,
    mut progress: impl FnMut(),
) -> Result<(), Error> {
    let group = with_those_that_follow(worker, first, consumer, owner.held()).await?;
    owner.take(group, consumer).await?;
    let mut renew = baton_renewals();
    loop {
        tokio::select! {
            biased;
            () = worker.stopped() => return owner.leave().await,
            () = renew.tick() => owner.renew_baton(),
            Some(ended) = owner.outputs.join_next() => {
                owner.output_ended(ended.map_err(Error::Panicked)??);
                progress();
            }
            delivery = consumer.next() => {
                let Some(delivery) = delivery? else { return Ok(()) };
                let group = with_those_that_follow(worker, delivery, consumer, owner.held()).await?;
                owner.take(group, consumer).await?;
                progress();
            }
        }
        if let Some(baton) = owner.give_up_baton() {
            failpoint::hit("shard.published");
            consumer.ack(baton).await?;
        }
    }
}

fn baton_renewals() -> time::Interval {
    let seconds = failpoint::knob("baton_renew_seconds", limits::BATON_RENEW_SECONDS as usize);
    time::interval_later(Duration::from_secs(seconds as u64))
}

/// Spreads the shards over the workers: the first subscriber of a shard owns it.
async fn wait_for_turn(worker: &Worker, id: ShardId) {
    let Some(durable) = &worker.durable else { return };
    let mut hasher = DefaultHasher::new();
    (&durable.worker, durable.session(), id).hash(&mut hasher);
    let delay_ms = hasher.finish() % durable.spread_ms;
    time::sleep(Duration::from_millis(delay_ms)).await;
}

/// The group of a delivery: those that have arrived already, or do soon, are taken with it, one record for all.
/// Nobody waits for the middle of a table; where something may end, it is taken at once. What is `held` already counts, too:
/// beyond the prefetch nothing comes, however long one waits.
async fn with_those_that_follow(
    worker: &Worker,
    first: Delivery,
    consumer: &mut dyn Consumer,
    held: usize,
) -> Result<Vec<Delivery>, Error> {
    let linger_ms = worker.durable.as_ref().map_or(0, |durable| durable.linger_ms);
    let deadline = time::sleep(Duration::from_millis(linger_ms));
    tokio::pin!(deadline);
    let mut bytes = first.message.size_bytes();
    let mut may_end = ends_something(&first.message);
    let mut group = vec![first];
    while bytes < limits::RECORD_BYTES && held + group.len() < limits::PREFETCH_MESSAGES {
        let next = match consumer.next().now_or_never() {
            Some(next) => next?,
            None if may_end || linger_ms == 0 => break,
            None => tokio::select! {
                biased;
                next = consumer.next() => next?,
                () = &mut deadline => break,
                () = worker.stopped() => break,
            },
        };
        let Some(next) = next else { break };
        bytes += next.message.size_bytes();
        may_end |= ends_something(&next.message);
        group.push(next);
    }
    Ok(group)
}

fn ends_something(message: &Message) -> bool {
    match message {
        Message::Part(part) => part.end.is_some(),
        Message::Table(_) => false,
        Message::End { .. } | Message::Baton | Message::Republish | Message::Failed { .. } => true,
    }
}
