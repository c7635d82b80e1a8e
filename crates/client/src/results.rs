//! Reads the answer of a query: the client is the last consumer that remembers what it has seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use caudal_core::{EndConflict, FragmentId, Offer, Part, QueryId, Source, Tracker, codes};
use caudal_protocol::Failure;
use caudal_protocol::calls::ResultWhat;
use tokio::sync::mpsc::Sender;

use crate::{Answer, Error, Event, Service};

/// Reads until the answer is complete, the query has failed, or nobody listens; what may still come is [left](drain). Of
/// a query that was refused there is nothing to read.
pub async fn read(
    service: Arc<dyn Service>,
    query: QueryId,
    events: Sender<Event>,
) -> Result<Option<Box<dyn Answer>>, Error> {
    let (outcome, rest) = match service.refusal(query) {
        Some(refusal) => (Err(refusal.clone()), None),
        None => {
            let mut messages = service.answer(query).await?;
            let outcome = read_all(service.as_ref(), query, messages.as_mut(), &events).await?;
            (outcome, Some(messages))
        }
    };
    tell(&events, Event::Done(query, outcome)).await;
    Ok(rest)
}

/// Takes what still comes of an answer that is done: others send again what they do not know to have arrived, and a query
/// that has failed is not known as such by all at once. What nobody reads would count, and be waited for.
pub async fn drain(mut messages: Box<dyn Answer>) {
    while messages.taken().await.is_ok() && messages.next().await.is_ok() {}
}

/// Whether the answer is complete, or why there is none.
async fn read_all(
    service: &dyn Service,
    query: QueryId,
    messages: &mut dyn Answer,
    events: &Sender<Event>,
) -> Result<Result<(), Failure>, Error> {
    let mut seen = Seen::new(service.sources()[query.index()].clone());
    while !seen.is_complete() {
        let (what, rows) = messages.next().await?;
        let rows = match seen.take(what, rows) {
            Ok(rows) => rows,
            Err(failure) => return Ok(Err(failure)),
        };
        for batch in rows {
            tell(events, Event::Rows(query, batch)).await;
        }
        messages.taken().await?;
    }
    Ok(Ok(()))
}

/// A run that nobody listens to any more is about to end, and this task with it.
async fn tell(events: &Sender<Event>, event: Event) {
    let _ = events.send(event).await;
}

/// State of a query's answer, as received so far.
struct Seen {
    tracker: Tracker<Vec<RecordBatch>>,
    sources: Vec<Source>,
    /// Fragments of a single source are handed on by number: that is how an order survives.
    next_number: u32,
    early: BTreeMap<u32, Vec<RecordBatch>>,
}

impl Seen {
    fn new(sources: Vec<Source>) -> Self {
        Self { tracker: Tracker::default(), sources, next_number: 0, early: BTreeMap::new() }
    }

    /// The rows that can be handed on with this message.
    fn take(
        &mut self,
        what: ResultWhat,
        rows: Vec<RecordBatch>,
    ) -> Result<Vec<RecordBatch>, Failure> {
        match what {
            ResultWhat::Part { id, part, end } => {
                self.take_part(id, part, end, rows).map_err(as_failure)
            }
            ResultWhat::End { source, count } => {
                self.tracker.end(source, count).map_err(as_failure)?;
                Ok(vec![])
            }
            ResultWhat::Failed { failure } => Err(failure),
        }
    }

    fn take_part(
        &mut self,
        id: FragmentId,
        part: Part,
        end: Option<u32>,
        rows: Vec<RecordBatch>,
    ) -> Result<Vec<RecordBatch>, EndConflict> {
        if let Some(count) = end {
            self.tracker.end(id.source, count)?;
        }
        let Offer::Taken(parts) = self.tracker.offer(id, part, rows)? else {
            return Ok(vec![]);
        };
        let rows = parts.into_iter().flatten().collect();
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
    Failure::new(codes::CONTRADICTION, conflict)
}
