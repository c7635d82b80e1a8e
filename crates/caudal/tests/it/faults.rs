//! Duplicated, reordered and repeated fragments do not change an answer.
//!
//! The memory broker duplicates and reorders; a saboteur takes fragments from under the map workers,
//! sends what they become in parts of its own, all or only some of them, and dies without
//! acknowledging. Every run has to show that this did happen.

use std::sync::Arc;

use caudal_broker::{Broker, Faults};
use caudal_core::{Attempt, FragmentId, Part, Source};
use caudal_engine::Engine;
use caudal_oracle::compare;
use caudal_oracle::random_sql::query;
use caudal_planner::SessionPlan;
use caudal_protocol::{FragmentPart, Message, Queues, Section, TableFragment};
use caudal_testing::Seeds;
use fastrand::Rng;

use crate::harness::{Run, Seen, plain};
use crate::random_sql::tables;

const SEEDS: u64 = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_do_not_depend_on_delivery() {
    let mut seen = Seen::default();
    let seeds = Seeds::of(SEEDS);
    for seed in seeds.range() {
        let mut rng = Rng::with_seed(1000 + seed);
        let tables = tables(&mut rng);
        let queries: Vec<_> = (0..3).map(|_| query(&mut rng)).collect();
        let mut sql = vec![];
        for query in &queries {
            if plain(&tables, &query.sql).await.is_ok() {
                sql.push(query.sql.clone());
            }
        }
        if sql.is_empty() {
            continue;
        }
        let mut run = Run::new(&tables, &sql, rng.usize(1..5));
        run.faults = Faults { duplicate: 0.3, reorder: true };
        run.sabotage = true;
        run.seed = seed;
        let (answers, saw) = run.answers().await.unwrap_or_else(|e| panic!("{e}\nseed {seed}"));
        seen.redelivered += saw.redelivered;
        seen.duplicates += saw.duplicates;
        for (sql, ours) in sql.iter().zip(answers) {
            let ordered = queries.iter().any(|query| query.sql == *sql && query.ordered);
            let theirs = plain(&tables, sql).await.unwrap();
            let ours = ours.unwrap_or_else(|error| panic!("{error}\nseed {seed}\n{sql}"));
            compare(&ours, &theirs, ordered)
                .unwrap_or_else(|difference| panic!("{difference}\nseed {seed}\n{sql}"));
        }
    }
    println!("{seen:?}");
    let happened = seen.redelivered > 20 && seen.duplicates > 500;
    assert!(happened || !seeds.suffice(), "the faults did not happen: {seen:?}");
}

/// Fragments a saboteur spoils before it leaves the run alone.
const SPOILED_MAX: usize = 12;

pub async fn sabotage(broker: Arc<dyn Broker>, queues: Queues, plan: Arc<SessionPlan>, seed: u64) {
    let engine = Engine::new(plan, 1 << 30).unwrap();
    let mut rng = Rng::with_seed(seed);
    for _ in 0..SPOILED_MAX {
        // The run may be over at any time.
        let Ok(mut consumer) = broker.consume(&queues.map(), 1).await else { return };
        let Ok(Some(delivery)) = consumer.next().await else { return };
        let Message::Table(fragment) = delivery.message.as_ref() else { continue };
        if spoil(broker.as_ref(), &queues, &engine, fragment, &mut rng).await.is_err() {
            return;
        }
        // The consumer is dropped here, its delivery unacknowledged.
    }
}

async fn spoil(
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
