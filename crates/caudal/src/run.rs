//! Several queries in one pass.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use caudal_client::{Event, Service, Upload};
use caudal_core::{Failure, SessionId};
use caudal_runtime::compute;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryFutureExt};
use tokio::time::{Sleep, sleep};

use crate::error::Error;
use crate::progress::Progress;

/// The queries of a job on their way: a stream of [`Event`]s, which ends when every query is done.
///
/// Nothing is read before it is polled for the first time. Dropped before its end, it cancels its session: at once in
/// this process; on a cluster as well as can be, and the cluster notices by itself that a client is gone.
#[must_use = "a run does nothing unless it is polled"]
pub struct Run {
    session: SessionId,
    service: Arc<dyn Service>,
    schemas: Vec<Result<SchemaRef, Failure>>,
    progress: Progress,
    events: BoxStream<'static, Result<Event, Error>>,
    deadline: Option<Deadline>,
    is_over: bool,
}

/// Time by which a run has to have ended.
pub struct Deadline {
    timeout: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl Deadline {
    pub fn after(timeout: Duration) -> Self {
        Self { timeout, sleep: Box::pin(sleep(timeout)) }
    }

    /// Returns when it has passed, with what to say.
    pub async fn passed(&mut self) -> Error {
        self.sleep.as_mut().await;
        Error::TimedOut(self.timeout)
    }
}

/// A session, wherever it is, and what is to be sent to it.
pub struct Opened {
    pub session: SessionId,
    pub service: Arc<dyn Service>,
    pub schemas: Vec<Result<SchemaRef, Failure>>,
    pub uploads: Vec<Upload>,
    pub readers: usize,
    pub progress: Progress,
}

impl Run {
    pub(crate) fn new(opened: Opened, deadline: Option<Deadline>) -> Self {
        let Opened { session, service, schemas, uploads, readers, progress } = opened;
        let events = events(Arc::clone(&service), uploads, readers, &progress);
        Self { session, service, schemas, progress, events, deadline, is_over: false }
    }

    /// Identifier of its session on the cluster.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The columns of each query's answer, in the order of the job; or why there will be none.
    pub fn schemas(&self) -> &[Result<SchemaRef, Failure>] {
        &self.schemas
    }

    /// Progress of the run.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Ends it at once; returns when the cluster, if it is on one, has heard it or has not for two seconds.
    pub async fn cancel(mut self) {
        if !self.is_over {
            self.is_over = true;
            // No task goes on meanwhile.
            self.events = stream::empty().boxed();
            self.service.abort().await;
        }
    }
}

fn events(
    service: Arc<dyn Service>,
    uploads: Vec<Upload>,
    readers: usize,
    progress: &Progress,
) -> BoxStream<'static, Result<Event, Error>> {
    let counters = Arc::clone(&progress.counters);
    let begin = async move {
        // To read and parse is to compute: whoever polls the run hears of time and signals meanwhile.
        let run = compute::entered(|| {
            caudal_client::Run::start(Arc::clone(&service), uploads, readers, counters)
        });
        Ok(stream::try_unfold((run, service), |(mut run, service)| async move {
            if let Some(event) = run.next().await? {
                return Ok(Some((event, (run, service))));
            }
            service.finish().await?;
            Ok(None)
        }))
    };
    begin.try_flatten_stream().boxed()
}

impl Stream for Run {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.events.poll_next_unpin(context);
        if next.is_pending()
            && let Some(deadline) = &mut self.deadline
            && pin!(deadline.passed()).poll(context).is_ready()
        {
            let late = Error::TimedOut(deadline.timeout);
            self.deadline = None;
            return Poll::Ready(Some(Err(late)));
        }
        self.is_over |= matches!(next, Poll::Ready(None));
        next
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Without a runtime, whatever was done here is over, and a cluster will notice.
        if !self.is_over
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let service = Arc::clone(&self.service);
            runtime.spawn(async move { service.abort().await });
        }
    }
}
