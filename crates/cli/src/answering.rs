//! A job, run and shown.

use std::pin::pin;
use std::time::Duration;

use caudal::{Cluster, Event, Job, Run, Session};
use caudal_core::limits;
use futures::StreamExt;
use tokio::time::timeout;

use crate::args::{ClusterArgs, EngineArgs, InputArgs, OutputArgs, TimeArgs};
use crate::error::Failed;
use crate::session::{self, runtime};
use crate::showing::Showing;
use crate::{Done, interrupt};

/// Time far longer than opening, listing or cancelling sessions takes, if all is well.
const MOMENT: Duration = Duration::from_millis(limits::ANSWER_EXPECTED_MS);

/// Time that cancelling a session may keep whoever pressed Ctrl-C.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(limits::INTERRUPT_CANCEL_MS_MAX);

/// Runs a job, in this process or on a cluster: answers to where they belong, everything else to
/// stderr.
pub fn answer(
    job: &Job,
    engine: EngineArgs,
    times: TimeArgs,
    cluster: &ClusterArgs,
    output: &OutputArgs,
    input: &InputArgs,
) -> Done {
    let cluster = match cluster.gateway.is_empty() {
        true => None,
        false => Some(session::cluster(cluster)?),
    };
    answer_at(cluster.as_ref(), job, engine, times, output, input)
}

/// Runs a job on this cluster; in this process, if there is none.
pub fn answer_at(
    cluster: Option<&Cluster>,
    job: &Job,
    engine: EngineArgs,
    times: TimeArgs,
    output: &OutputArgs,
    input: &InputArgs,
) -> Done {
    let Some(cluster) = cluster else {
        let session = session::timed(session::local(engine, input), times);
        return answer_here(job, &session, output, input);
    };
    interrupt::allow(CANCEL_TIMEOUT);
    let session = session::timed(session::remote(cluster.clone(), engine, input), times);
    let (seconds, is_quiet) = (times.wait.as_secs(), output.quiet);
    let session = session.on_wait(move |refused| {
        if !is_quiet {
            eprintln!("waiting: {refused}; for {seconds} s at most");
        }
    });
    // One thread more than are busy with files, for what comes and goes.
    let runtime = runtime(session.thread_count() + 1)?;
    let opening = with_waiting_told(cluster, output.quiet, session.run(job));
    let done = runtime.block_on(show(job, opening, output, input));
    runtime.shutdown_background();
    done
}

/// Runs a job in this process.
pub fn answer_here(job: &Job, session: &Session, output: &OutputArgs, input: &InputArgs) -> Done {
    let runtime = runtime(session.thread_count())?;
    let done = runtime.block_on(show(job, session.run(job), output, input));
    runtime.shutdown_background();
    done
}

async fn show(
    job: &Job,
    opening: impl Future<Output = Result<Run, caudal::Error>>,
    output: &OutputArgs,
    input: &InputArgs,
) -> Done {
    let run = tokio::select! {
        opened = opening => opened?,
        _ = interrupt::pressed() => return Err(Failed::interrupted()),
    };
    let mut showing = match Showing::start(job, &run, output, input) {
        Ok(showing) => showing,
        Err(failed) => {
            run.cancel().await;
            return Err(failed);
        }
    };
    let ran = follow(run, |event| showing.handle(event)).await;
    showing.finish(ran)
}

/// Hands every event of a run to `handle`, on the calling thread. A run that does not come to its end is cancelled.
pub async fn follow(mut run: Run, mut handle: impl FnMut(Event) -> Done) -> Done {
    let mut pressed = pin!(interrupt::pressed());
    let ended = loop {
        let event = tokio::select! {
            event = run.next() => event,
            _ = &mut pressed => break Err(Failed::interrupted()),
        };
        let handled = match event {
            Some(Ok(event)) => handle(event),
            Some(Err(error)) => Err(error.into()),
            None => break Ok(()),
        };
        if handled.is_err() {
            break handled;
        }
    };
    if ended.is_err() {
        run.cancel().await;
    }
    ended
}

/// Answer of a gateway. Says on stderr what it waits for, if that takes longer than a moment.
pub async fn with_waiting_told<T>(
    cluster: &Cluster,
    is_quiet: bool,
    answer: impl Future<Output = T>,
) -> T {
    let mut answer = pin!(answer);
    if let Ok(answered) = timeout(MOMENT, &mut answer).await {
        return answered;
    }
    if !is_quiet {
        eprintln!("waiting: no answer yet from {}", cluster.gateways().join(", "));
    }
    answer.await
}
