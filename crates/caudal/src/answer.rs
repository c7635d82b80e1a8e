//! The answer of one query.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal_client::Event;
use caudal_core::{TableId, limits};
use caudal_source::{Note, Reject, Table};
use futures::{Stream, StreamExt, TryStreamExt};

use crate::error::Error;
use crate::job::Job;
use crate::progress::Progress;
use crate::run::Run;

/// The rows of a query's answer: a stream of batches, in the query's order where it has one.
///
/// Dropped before its end, it cancels its session, as a [`Run`] does.
#[must_use = "an answer does nothing unless it is polled"]
pub struct Answer {
    run: Run,
    query: String,
    schema: SchemaRef,
    rejects: Vec<Rejects>,
    notes: Vec<Note>,
    waiting_for: Vec<String>,
}

/// Rows of a table that did not fit it, and are not in the answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rejects {
    /// The table's name.
    pub table: String,
    /// Number of them so far.
    pub count: usize,
    /// The first of them. A [`Run`] tells of all.
    pub first: Vec<Reject>,
}

impl Answer {
    /// Of a job with one query.
    pub(crate) fn of(run: Run, job: &Job) -> Result<Self, Error> {
        let schema = match run.schemas() {
            [Ok(schema)] => schema.clone(),
            refused => {
                let refusals = refused.iter().filter_map(|schema| schema.as_ref().err());
                return Err(Error::Refused(refusals.cloned().collect()));
            }
        };
        let none = |table: &Table| Rejects { table: table.name.clone(), count: 0, first: vec![] };
        let rejects = job.tables.iter().map(none).collect();
        let query = job.queries.iter().map(|query| query.name.clone()).collect();
        Ok(Self { run, query, schema, rejects, notes: vec![], waiting_for: vec![] })
    }

    /// The columns of its rows.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// All rows that have not been taken from it. What was left out of the files is known afterwards.
    pub async fn batches(&mut self) -> Result<Vec<RecordBatch>, Error> {
        self.try_collect().await
    }

    /// Rows that were left out so far, table by table; tables that lost nothing are not listed.
    pub fn rejects(&self) -> impl Iterator<Item = &Rejects> {
        self.rejects.iter().filter(|rejects| rejects.count > 0)
    }

    /// What there is to say of the files now that they have been read, besides the rows that were left out: names in objects of
    /// JSON, say, that are no columns.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Progress of the run.
    pub fn progress(&self) -> Progress {
        self.run.progress()
    }

    /// Description of what the session waits for; empty, while it goes on.
    pub fn waiting_for(&self) -> &[String] {
        &self.waiting_for
    }

    /// Ends its session: see [`Run::cancel`].
    pub async fn cancel(self) {
        self.run.cancel().await;
    }

    fn reject(&mut self, table: TableId, rows: Vec<Reject>) {
        let rejects = &mut self.rejects[table.index()];
        rejects.count += rows.len();
        let room = limits::REJECTS_DESCRIBED_MAX.saturating_sub(rejects.first.len());
        rejects.first.extend(rows.into_iter().take(room));
    }
}

impl Stream for Answer {
    type Item = Result<RecordBatch, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = match ready!(self.run.poll_next_unpin(context)) {
                Some(Ok(event)) => event,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            match event {
                Event::Rows(_, batch) => return Poll::Ready(Some(Ok(batch))),
                Event::Done(_, Err(failure)) => {
                    let query = self.query.clone();
                    return Poll::Ready(Some(Err(Error::Failed { query, failure })));
                }
                Event::Done(_, Ok(())) => {}
                Event::Rejected(table, rows) => self.reject(table, rows),
                Event::Noted(_, notes) => self.notes.extend(notes),
                Event::Waiting(reasons) => self.waiting_for = reasons,
            }
        }
    }
}
