//! Reads the answer of a query: the client is the last consumer that remembers what it has seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::{
    EndConflict, Failure, FragmentPart, Message, Offer, QueryId, Section, Source, Tracker,
};
use caudal_gateway::Session;
use tokio::sync::mpsc::Sender;

use crate::Event;

/// Reads until the answer is complete, the query has failed, or nobody listens.
pub async fn read(session: Arc<Session>, query: QueryId, events: Sender<Event>) {
    // A run that is being given up has no queue and needs no answer.
    let Ok(mut consumer) = session.result(query).await else { return };
    let mut answer = Answer::new(&session, query);
    while let Ok(Some(delivery)) = consumer.next().await {
        let message = Arc::unwrap_or_clone(delivery.message);
        let rows = match answer.take(message) {
            Ok(rows) => rows,
            Err(failure) => {
                let _ = events.send(Event::Done(query, Err(failure))).await;
                return;
            }
        };
        for batch in rows {
            if events.send(Event::Rows(query, batch)).await.is_err() {
                return;
            }
        }
        if consumer.ack(delivery.tag).await.is_err() {
            return;
        }
        if answer.is_complete() {
            let _ = events.send(Event::Done(query, Ok(()))).await;
            return;
        }
    }
}

/// What has been seen of a query's answer.
struct Answer {
    tracker: Tracker<Vec<Section>>,
    sources: Vec<Source>,
    /// Fragments of a single source are handed on by number: that is how an order survives.
    next_number: u32,
    early: BTreeMap<u32, Vec<RecordBatch>>,
}

impl Answer {
    fn new(session: &Session, query: QueryId) -> Self {
        let plan = &session.plan;
        Self {
            tracker: Tracker::default(),
            sources: plan.stage(plan.query(query).root).sources(plan.shards),
            next_number: 0,
            early: BTreeMap::new(),
        }
    }

    fn take(&mut self, message: Message) -> Result<Vec<RecordBatch>, Failure> {
        match message {
            Message::Part(part) => self.take_part(part).map_err(as_failure),
            Message::End { source, count } => {
                self.tracker.end(source, count).map_err(as_failure)?;
                Ok(vec![])
            }
            Message::Failed { failure, .. } => Err(failure),
            Message::Baton | Message::Table(_) => Ok(vec![]),
        }
    }

    fn take_part(&mut self, part: FragmentPart) -> Result<Vec<RecordBatch>, EndConflict> {
        let id = part.id;
        if let Some(count) = part.end {
            self.tracker.end(id.source, count)?;
        }
        let Offer::Taken(parts) = self.tracker.offer(id, part.part, part.sections)? else {
            return Ok(vec![]);
        };
        let rows = parts.into_iter().flatten().flat_map(|section| section.batches).collect();
        if !matches!(self.sources[..], [Source::Shard { .. }]) {
            return Ok(rows);
        }
        self.early.insert(id.number, rows);
        Ok(self.in_order())
    }

    fn in_order(&mut self) -> Vec<RecordBatch> {
        let mut rows = vec![];
        while let Some(next) = self.early.remove(&self.next_number) {
            rows.extend(next);
            self.next_number += 1;
        }
        rows
    }

    fn is_complete(&self) -> bool {
        self.sources.iter().all(|source| self.tracker.is_complete(*source))
    }
}

fn as_failure(conflict: EndConflict) -> Failure {
    Failure { code: "CDL-3003".to_string(), message: conflict.to_string() }
}
