//! Deliberate defects of a worker, which the simulation has to find (`caudal-sim --mutants`).
//!
//! Each is a seam of one call, which does nothing unless its mutant is switched on, and is nothing at all in a release
//! build.

use caudal_broker::{Consumer, DeliveryTag, QueueKind};
use caudal_core::{Attempt, ShardId};
use caudal_runtime::failpoint::mutant;

use crate::serve::Role;
use crate::shard::Owner;
use crate::{Error, Worker};

/// All runs of a fragment are one: parts of different attempts are put together.
pub fn attempts_mixed(attempt: Attempt) -> Attempt {
    if mutant("attempts_mixed") { Attempt(0) } else { attempt }
}

/// A worker makes the queue that it misses, which only gateways may do.
pub async fn workers_declare(worker: &Worker, role: Role) -> Result<(), Error> {
    if !mutant("workers_declare") {
        return Ok(());
    }
    let (queue, kind) = match role {
        Role::Map => (worker.queues.map(), QueueKind::Work { messages_max: 8 }),
        Role::Shard(id) => (worker.queues.shard(id), QueueKind::Shard { messages_max: 8 }),
    };
    Ok(worker.broker.declare(&queue, kind).await?)
}

/// Deliveries are acknowledged before they are written down.
pub async fn ack_before_journal(
    taken: &mut Vec<DeliveryTag>,
    consumer: &dyn Consumer,
) -> Result<(), Error> {
    if mutant("ack_before_journal") {
        for tag in taken.drain(..) {
            consumer.ack(tag).await?;
        }
    }
    Ok(())
}

/// The baton is given up at once. Whether it was.
pub async fn no_baton(baton: DeliveryTag, consumer: &dyn Consumer) -> Result<bool, Error> {
    let is_on = mutant("no_baton");
    if is_on {
        consumer.ack(baton).await?;
    }
    Ok(is_on)
}

/// Committed output is forgotten: a stage is run, and published, once more.
pub fn output_uncommitted<T>(outputs: &mut Vec<T>) {
    if mutant("output_uncommitted") {
        outputs.clear();
    }
}

/// A stage that failed is done, and nothing says so to a successor.
pub fn failure_uncommitted() -> bool {
    mutant("failure_uncommitted")
}

/// State that the owner of a shard had in memory when its subscription ended, as if it were the same consumer still.
pub fn memory_kept(worker: &Worker, shard: ShardId) -> Option<Owner> {
    if mutant("memory_kept") { kept::find(worker, shard) } else { None }
}

/// Keeps what [`memory_kept`] finds.
pub fn keep_memory(worker: &Worker, shard: ShardId, owner: Owner) {
    if mutant("memory_kept") {
        kept::keep(worker, shard, owner);
    }
}

#[cfg(debug_assertions)]
mod kept {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::*;

    type Key = (u64, String, ShardId);

    thread_local! {
        static KEPT: RefCell<BTreeMap<Key, Owner>> = const { RefCell::new(BTreeMap::new()) };
    }

    fn key(worker: &Worker, shard: ShardId) -> Key {
        let incarnation = worker.durable.as_ref().map_or(0, |durable| durable.incarnation);
        (incarnation, worker.queues.session.0.clone(), shard)
    }

    pub fn find(worker: &Worker, shard: ShardId) -> Option<Owner> {
        let kept = KEPT.with_borrow_mut(|kept| kept.remove(&key(worker, shard)));
        kept.map(Owner::without_baton)
    }

    pub fn keep(worker: &Worker, shard: ShardId, owner: Owner) {
        KEPT.with_borrow_mut(|kept| kept.insert(key(worker, shard), owner));
    }
}

#[cfg(not(debug_assertions))]
mod kept {
    use super::*;

    pub fn find(_: &Worker, _: ShardId) -> Option<Owner> {
        None
    }

    pub fn keep(_: &Worker, _: ShardId, _: Owner) {}
}
