//! Spawning.

use tokio::task::{JoinError, JoinHandle, JoinSet};

/// Runs a future as a task of its own.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    #[cfg(debug_assertions)]
    if let Some(scope) = crate::Scope::current() {
        return scope.spawn(future);
    }
    tokio::spawn(future)
}

/// Runs a future as one of a set of tasks.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub fn spawn_on<T: Send + 'static>(
    set: &mut JoinSet<T>,
    future: impl Future<Output = T> + Send + 'static,
) {
    #[cfg(debug_assertions)]
    if let Some(scope) = crate::Scope::current() {
        scope.spawn_on(set, future);
        return;
    }
    set.spawn(future);
}

/// Computes on a thread that has nothing else to do: not on one that has heartbeats to answer.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    #[cfg(debug_assertions)]
    if crate::Scope::current().is_some() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await
}

/// The same for work that is written as a future but waits for nothing.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub async fn compute_async<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    #[cfg(debug_assertions)]
    if crate::Scope::current().is_some() {
        return Ok(work.await);
    }
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(work)).await
}
