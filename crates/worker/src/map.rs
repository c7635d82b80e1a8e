//! Takes fragments of tables and sends on what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use caudal_broker::{Consumer, Delivery};
use caudal_core::{FragmentId, Source, limits};
use caudal_engine::MapOutput;
use caudal_protocol::{Message, TableFragment};
use caudal_runtime::failpoint;
use caudal_runtime::time::{now, since, sleep};
use caudal_store::RetryMarker;
use futures::future::try_join_all;
use tracing::info;

use crate::durable::Durable;
use crate::output::{Sender, split, split_answer};
use crate::serve::back_off;
use crate::{Error, Worker};

pub async fn subscribe(worker: &Worker) -> Result<Box<dyn Consumer>, Error> {
    Ok(worker.broker.consume(&worker.queues.map(), limits::MAP_PREFETCH_MESSAGES).await?)
}

/// Tells of every fragment that is done.
pub async fn serve(
    worker: &Worker,
    mut consumer: Box<dyn Consumer>,
    mut progress: impl FnMut(),
) -> Result<(), Error> {
    loop {
        let delivery = tokio::select! {
            biased;
            () = worker.stopped() => None,
            delivery = consumer.next() => delivery?,
        };
        let Some(delivery) = delivery else { return Ok(()) };
        take(worker, consumer.as_ref(), delivery).await?;
        progress();
    }
}

async fn take(worker: &Worker, consumer: &dyn Consumer, delivery: Delivery) -> Result<(), Error> {
    if let Message::Table(fragment) = delivery.message.as_ref() {
        let _memory = worker.engine.hold("fragment", fragment.batch.get_array_memory_size());
        match &worker.durable {
            Some(durable) if delivery.redelivered => {
                let id = id_of(fragment);
                info!(session = %worker.queues.session, fragment = %id, "fragment delivered again");
                let _all = worker.alone.write().await;
                let marker = mark_retry(durable, id).await?;
                let mapped = unless_leaving(worker, map(worker, fragment)).await;
                // Neither an error nor a worker that leaves is a death, nor one that waits for capacity, however long.
                end_marker(&marker).await?;
                let Some(mapped) = mapped else { return Ok(()) };
                let sending = send(worker, fragment, mapped?);
                let Some(sent) = unless_leaving(worker, sending).await else { return Ok(()) };
                sent?;
            }
            _ => {
                let _one = worker.alone.read().await;
                let running = async { send(worker, fragment, map(worker, fragment).await?).await };
                let Some(ran) = unless_leaving(worker, running).await else { return Ok(()) };
                ran?;
            }
        }
        Worker::count(&worker.counts.mapped, 1);
    }
    Worker::count(&worker.counts.redelivered, u64::from(delivery.redelivered));
    // Everything that the fragment became is confirmed: only now may it be forgotten.
    failpoint::hit("map.confirmed");
    Ok(consumer.ack(delivery.tag).await?)
}

/// Nothing where the worker has been leaving for so long that what is in hand is left to others.
async fn unless_leaving<T>(worker: &Worker, work: impl Future<Output = T>) -> Option<T> {
    let has_to_leave = async {
        worker.stopped().await;
        sleep(Duration::from_millis(limits::LEAVE_MS / 2)).await;
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = has_to_leave => None,
    }
}

/// A fragment that others have died of is not run again.
async fn mark_retry(durable: &Durable, fragment: FragmentId) -> Result<RetryMarker, Error> {
    let (worker, incarnation) = (&durable.worker, durable.incarnation);
    let marker = durable.records.mark_retry(fragment, worker, incarnation).await?;
    marker.ok_or(Error::PoisonFragment { fragment, deaths: limits::FRAGMENT_DEATHS_MAX })
}

/// A marker that is left counts as a death, to others: a store that fails once is asked again.
async fn end_marker(marker: &RetryMarker) -> Result<(), Error> {
    let start = now();
    let mut failures = 0;
    while let Err(error) = marker.end().await {
        if since(start) >= Duration::from_millis(limits::LEAVE_MS / 2) {
            return Err(error.into());
        }
        back_off(failures).await;
        failures += 1;
    }
    Ok(())
}

async fn map(worker: &Worker, fragment: &TableFragment) -> Result<MapOutput, Error> {
    failpoint::hit("map.running");
    let (engine, rows) = (Arc::clone(&worker.engine), fragment.clone());
    let mapping = worker.place.run(async move { engine.map(&rows).await });
    let table = &worker.engine.plan.table(fragment.table).needs.name;
    let at_work = worker.begin(format!("fragment {} of table {table}", fragment.number));
    let output = mapping.await.map_err(Error::Panicked)?;
    drop(at_work);
    failpoint::hit("map.before_publish");
    Ok(output)
}

/// Failures first: a client that completes a query has to have heard of them.
async fn send(worker: &Worker, fragment: &TableFragment, output: MapOutput) -> Result<(), Error> {
    for (query, failure) in output.failures {
        worker.fail(query, failure).await?;
    }
    let id = id_of(fragment);
    let sender = Sender { worker, id, attempt: worker.new_attempt(), end: None };
    let shards = output.shards.into_iter();
    let to_shards = shards.map(|(shard, sections)| (worker.queues.shard(shard), split(sections)));
    let results = output.results.into_iter();
    let to_results = results.filter_map(|(query, batches)| {
        let stage = worker.engine.plan.root(query)?;
        Some((worker.queues.result(query), split_answer(stage, batches)))
    });
    let sends =
        to_shards.chain(to_results).map(async |(queue, parts)| sender.send(&queue, parts).await);
    try_join_all(sends).await.map(|_| ())
}

fn id_of(fragment: &TableFragment) -> FragmentId {
    FragmentId { source: Source::Table(fragment.table), number: fragment.number }
}
