//! A map worker with a fault: it takes fragments from under the others, sends what they become in parts of its own, all or
//! only some of them, and dies without acknowledging.

use std::sync::Arc;

use caudal_broker::Broker;
use caudal_core::{Attempt, FragmentId, Part, Source};
use caudal_engine::{Engine, Memory};
use caudal_planner::SessionPlan;
use caudal_protocol::{FragmentPart, Message, Queues, Section, TableFragment};
use fastrand::Rng;

/// Fragments it takes before it leaves the run alone.
const FRAGMENTS_MAX: usize = 12;

pub async fn faulty_mapper(
    broker: Arc<dyn Broker>,
    queues: Queues,
    plan: Arc<SessionPlan>,
    seed: u64,
) {
    let engine = Engine::new(plan, &Memory::new(1 << 30).unwrap());
    let mut rng = Rng::with_seed(seed);
    for _ in 0..FRAGMENTS_MAX {
        // The run may be over at any time.
        let Ok(mut consumer) = broker.consume(&queues.map(), 1).await else { return };
        let Ok(Some(delivery)) = consumer.next().await else { return };
        let Message::Table(fragment) = delivery.message.as_ref() else { continue };
        if map_in_part(broker.as_ref(), &queues, &engine, fragment, &mut rng).await.is_err() {
            return;
        }
        // The consumer is dropped here, its delivery unacknowledged.
    }
}

async fn map_in_part(
    broker: &dyn Broker,
    queues: &Queues,
    engine: &Engine,
    fragment: &TableFragment,
    rng: &mut Rng,
) -> Result<(), caudal_broker::Error> {
    let id = FragmentId { source: Source::Table(fragment.table), number: fragment.number };
    let output = engine.map(fragment).await;
    for (shard, sections) in output.shards {
        let attempt = Attempt(rng.u64(..));
        let mut parts = in_parts(sections, rng);
        let count = u32::try_from(parts.len()).unwrap();
        let sent = rng.usize(0..=parts.len());
        let mut order: Vec<usize> = (0..parts.len()).collect();
        rng.shuffle(&mut order);
        for index in order.into_iter().take(sent) {
            let part = Part { attempt, index: u32::try_from(index).unwrap(), count };
            let sections = std::mem::take(&mut parts[index]);
            let message = Message::Part(FragmentPart { id, part, end: None, sections });
            broker.send(&queues.shard(shard), message).await?;
        }
    }
    Ok(())
}

/// Divides every batch at a random row.
fn in_parts(sections: Vec<Section>, rng: &mut Rng) -> Vec<Vec<Section>> {
    let mut parts = vec![vec![]; rng.usize(1..4)];
    for Section { stage, batches } in sections {
        for batch in batches {
            let cut = rng.usize(0..=batch.num_rows());
            let slices = [batch.slice(0, cut), batch.slice(cut, batch.num_rows() - cut)];
            for slice in slices {
                let part = rng.usize(..parts.len());
                parts[part].push(Section { stage, batches: vec![slice] });
            }
        }
    }
    parts
}
