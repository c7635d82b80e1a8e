//! Takes fragments of tables and sends on what becomes of them.

use caudal_broker::{Consumer, Delivery};
use caudal_core::{FragmentId, Message, Section, Source, TableFragment};
use caudal_engine::MapOutput;

use crate::output::{Sender, split};
use crate::{Error, Worker};

/// One fragment at a time: the next one may as well go to another worker.
const PREFETCH: usize = 1;

pub async fn serve(worker: Worker) -> Result<(), Error> {
    match serve_until_gone(worker).await {
        Err(error) if error.is_session_gone() => Ok(()),
        ended => ended,
    }
}

async fn serve_until_gone(worker: Worker) -> Result<(), Error> {
    let mut consumer = worker.broker.consume(&worker.queues.map(), PREFETCH).await?;
    while let Some(delivery) = consumer.next().await? {
        take(&worker, consumer.as_ref(), delivery).await?;
    }
    Ok(())
}

async fn take(worker: &Worker, consumer: &dyn Consumer, delivery: Delivery) -> Result<(), Error> {
    Worker::count(&worker.counts.redelivered, u64::from(delivery.redelivered));
    if let Message::Table(fragment) = delivery.message.as_ref() {
        let output = worker.engine.map(fragment).await;
        send(worker, fragment, output).await?;
        Worker::count(&worker.counts.mapped, 1);
    }
    // Everything that the fragment became is confirmed: only now may it be forgotten.
    Ok(consumer.ack(delivery.tag).await?)
}

async fn send(worker: &Worker, fragment: &TableFragment, output: MapOutput) -> Result<(), Error> {
    let id = FragmentId { source: Source::Table(fragment.table), number: fragment.number };
    for (query, failure) in output.failures {
        worker.fail(query, failure).await?;
    }
    let sender = Sender { worker, id, attempt: worker.new_attempt(), end: None };
    for (shard, sections) in output.shards {
        sender.send(&worker.queues.shard(shard), split(sections)).await?;
    }
    for (query, batches) in output.results {
        let stage = worker.engine.plan.query(query).root;
        let sections = vec![Section { stage, batches }];
        sender.send(&worker.queues.result(query), split(sections)).await?;
    }
    Ok(())
}
