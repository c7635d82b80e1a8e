//! A run on its way: tables go up, answers come back.

use std::sync::Arc;

use caudal_core::{QueryId, limits};
use caudal_runtime::task::spawn_on;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::{Answer, Error, Event, Service, Upload, UploadCounters, resend, results, upload};

/// A run, to be asked for one event after the other. Dropped, it ends: no task outlives what it works for.
pub struct Run {
    service: Arc<dyn Service>,
    events: mpsc::Receiver<Event>,
    tasks: JoinSet<Result<Option<Box<dyn Answer>>, Error>>,
    /// Answers that are done, and of which something may still come.
    drains: JoinSet<()>,
    /// Sends tables again, for as long as that may be asked for. Ends before the run only with an error.
    resending: JoinSet<Result<(), Error>>,
    /// Description of what the session waits for, as last reported.
    known: Vec<String>,
}

impl Run {
    /// Begins to send the tables, one after the other, and to read the answers.
    pub fn start(
        service: Arc<dyn Service>,
        uploads: Vec<Upload>,
        readers: usize,
        counters: Arc<UploadCounters>,
    ) -> Self {
        let (sender, events) = mpsc::channel(limits::RUN_EVENTS_MAX);
        let mut tasks = JoinSet::new();
        for query in (0..service.sources().len()).map(QueryId::from) {
            spawn_on(&mut tasks, results::read(Arc::clone(&service), query, sender.clone()));
        }
        let (sent, again) = oneshot::channel();
        let uploading = upload::all(Arc::clone(&service), uploads, readers, counters, sender);
        spawn_on(&mut tasks, async move {
            // Nobody waits for it where the run has ended.
            let _ = sent.send(uploading.await?);
            Ok(None)
        });
        let mut resending = JoinSet::new();
        spawn_on(&mut resending, resend::whenever_asked(Arc::clone(&service), again));
        Self { service, events, tasks, drains: JoinSet::new(), resending, known: vec![] }
    }

    /// The next event; none, when all queries are done. The first error of the upload or of the session ends the
    /// run. Whoever stops waiting for an event has lost nothing.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            tokio::select! {
                biased;
                event = self.events.recv() => match event {
                    Some(event) => return Ok(Some(event)),
                    // Every task has ended, and all that they said is handled.
                    None => break,
                },
                Some(ended) = self.tasks.join_next() => {
                    if let Some(rest) = ended.map_err(Error::Panicked)?? {
                        spawn_on(&mut self.drains, results::drain(rest));
                    }
                }
                Some(ended) = self.resending.join_next() => ended.map_err(Error::Panicked)??,
                waiting = self.service.waiting_for(&self.known) => {
                    self.known = waiting?;
                    return Ok(Some(Event::Waiting(self.known.clone())));
                }
            }
        }
        while let Some(ended) = self.tasks.join_next().await {
            ended.map_err(Error::Panicked)??;
        }
        Ok(None)
    }
}

/// Sends the tables, one after the other, and hands every event to `handle` until all queries are
/// done. Returns the first error of the upload, of the session, or of `handle`.
pub async fn run<E: From<Error>>(
    service: Arc<dyn Service>,
    uploads: Vec<Upload>,
    readers: usize,
    counters: Arc<UploadCounters>,
    mut handle: impl FnMut(Event) -> Result<(), E>,
) -> Result<(), E> {
    let mut run = Run::start(service, uploads, readers, counters);
    while let Some(event) = run.next().await? {
        handle(event)?;
    }
    Ok(())
}
