//! Keeps a role of a worker going: after a lost connection or a lost shard it starts anew, with
//! nothing remembered; once the session is over it ends.

use caudal_broker::Consumer;
use caudal_core::{Coded, ShardId, codes, limits};
use caudal_protocol::Failure;
use caudal_runtime::Backoff;
use caudal_store::SessionState;
use tracing::{info, warn};

use crate::durable::Durable;
use crate::{Error, Worker, map, mutants, shard};

/// The role of a task of a worker.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    Map,
    Shard(ShardId),
}

impl Role {
    async fn subscribe(self, worker: &Worker) -> Result<Box<dyn Consumer>, Error> {
        mutants::workers_declare(worker, self).await?;
        match self {
            Role::Map => map::subscribe(worker).await,
            Role::Shard(id) => shard::subscribe(worker, id).await,
        }
    }

    async fn serve(
        self,
        worker: &Worker,
        consumer: Box<dyn Consumer>,
        progress: impl FnMut(),
    ) -> Result<(), Error> {
        match self {
            Role::Map => map::serve(worker, consumer, progress).await,
            Role::Shard(id) => shard::serve(worker, id, consumer, progress).await,
        }
    }
}

pub async fn serve(worker: Worker, role: Role) -> Result<(), Error> {
    let mut failed_in_a_row = 0;
    loop {
        let ended = match role.subscribe(&worker).await {
            Ok(consumer) => role.serve(&worker, consumer, || failed_in_a_row = 0).await,
            // Others may be let in: that this one is not says nothing about the session.
            Err(error) if error.is_refusal() && worker.durable.is_some() => {
                warn!(session = %worker.queues.session, %error, "the broker refuses this worker");
                Err(Error::NotLetIn)
            }
            Err(error) => Err(error),
        };
        if worker.is_stopped() {
            return Ok(());
        }
        let Some(durable) = &worker.durable else {
            return match ended {
                Err(error) if !error.is_queue_gone() => Err(error),
                _ => Ok(()),
            };
        };
        match what_now(durable, ended, &mut failed_in_a_row).await {
            Next::End => return Ok(()),
            Next::Again => back_off(failed_in_a_row).await,
            Next::Later => back_off(limits::WORKER_LATER_FAILURES).await,
        }
    }
}

enum Next {
    End,
    Again,
    /// Nothing has failed, and there is no hurry.
    Later,
}

/// A queue that is gone, or a fence, says something about the session: the store knows what it means.
async fn what_now(durable: &Durable, ended: Result<(), Error>, failed_in_a_row: &mut u32) -> Next {
    let session = durable.session();
    match durable.records.state().await {
        Ok(SessionState::Over) => return Next::End,
        Ok(SessionState::Open) => {}
        Err(error) => {
            warn!(%session, %error, "cannot read the state of the session");
            *failed_in_a_row += 1;
            return Next::Again;
        }
    }
    let error = match ended {
        // The stream of deliveries ended without a reason: the queue has been deleted.
        Ok(()) => Error::QueueGone,
        Err(error) => error,
    };
    // The gateway that opens the session has not come to it, or the broker has lost it. Whether one makes it (again), or the
    // session is given up, is not ours to say.
    if error.is_queue_gone() || matches!(error, Error::NotLetIn) {
        return Next::Later;
    }
    if error.is_somebody_elses_turn() {
        info!(%session, %error, "subscription lost, starting anew");
        *failed_in_a_row = 0;
        return Next::Again;
    }
    *failed_in_a_row += 1;
    let may_help = error.is_retryable() || error.is_refusal();
    // Others may reach the store: that this one does not says nothing about the session.
    let is_own = error.code() == codes::STORE_FAILED;
    if is_own || (may_help && *failed_in_a_row < limits::WORKER_RETRIES_MAX) {
        warn!(%session, %error, "subscription failed, starting anew");
        return Next::Again;
    }
    let failure = Failure::of(&error);
    match durable.fail_session(failure).await {
        Ok(()) => Next::End,
        Err(error) => {
            warn!(%session, %error, "cannot write the tombstone");
            Next::Again
        }
    }
}

/// Between two goes at a session.
const RETRY: Backoff = Backoff::new(limits::WORKER_RETRY_MS_MIN, limits::WORKER_RETRY_MS_MAX);

pub async fn back_off(failed_in_a_row: u32) {
    caudal_runtime::time::sleep(RETRY.pause(failed_in_a_row)).await;
}
