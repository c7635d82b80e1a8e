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
use std::hash::{Hash, Hasher};
use std::time::Duration;

use caudal_broker::{Consumer, Delivery};
use caudal_core::{ShardId, limits};
use caudal_failpoint as failpoint;
use caudal_runtime::time;
use futures::FutureExt;

use crate::shard::owner::Owner;
use crate::{Error, Worker};

/// Returns when the queue is gone or the worker is to leave.
pub async fn serve(worker: &Worker, id: ShardId) -> Result<(), Error> {
    wait_for_turn(worker, id).await;
    let queue = worker.queues.shard(id);
    let mut consumer = worker.broker.consume(&queue, limits::PREFETCH_MESSAGES).await?;
    let first = tokio::select! {
        biased;
        () = worker.stopped() => None,
        first = consumer.next() => first?,
    };
    let Some(first) = first else { return Ok(()) };
    let mut owner = Owner::take_over(worker, id, first.redelivered).await?;
    owner.take(with_those_waiting(first, consumer.as_mut())?, consumer.as_ref()).await?;
    let mut renew = time::interval_later(Duration::from_secs(limits::BATON_RENEW_SECONDS));
    loop {
        tokio::select! {
            biased;
            () = worker.stopped() => return Ok(()),
            () = renew.tick() => owner.renew_baton(),
            Some(ended) = owner.outputs.join_next() => {
                owner.output_ended(ended.map_err(Error::Panicked)??);
            }
            delivery = consumer.next() => {
                let Some(delivery) = delivery? else { return Ok(()) };
                let group = with_those_waiting(delivery, consumer.as_mut())?;
                owner.take(group, consumer.as_ref()).await?;
            }
        }
        if let Some(baton) = owner.give_up_baton() {
            failpoint::hit("shard.published");
            consumer.ack(baton).await?;
        }
    }
}

/// Spreads the shards over the workers: whoever subscribes first owns one.
async fn wait_for_turn(worker: &Worker, id: ShardId) {
    let Some(durable) = &worker.durable else { return };
    let mut hasher = DefaultHasher::new();
    (&durable.worker, &durable.objects.session, id).hash(&mut hasher);
    let delay_ms = hasher.finish() % durable.spread_ms;
    time::sleep(Duration::from_millis(delay_ms)).await;
}

/// What has arrived already is taken together with the first: one record, one write, for all.
fn with_those_waiting(
    first: Delivery,
    consumer: &mut dyn Consumer,
) -> Result<Vec<Delivery>, Error> {
    let mut bytes = first.message.size_bytes();
    let mut group = vec![first];
    while bytes < limits::RECORD_BYTES && group.len() < limits::PREFETCH_MESSAGES {
        let Some(Some(next)) = consumer.next().now_or_never().transpose()? else { break };
        bytes += next.message.size_bytes();
        group.push(next);
    }
    Ok(group)
}
