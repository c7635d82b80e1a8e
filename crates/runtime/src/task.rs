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

/// The same for planning, which is written as a future but waits for nothing, and needs a roomy stack: deep queries make
/// for deep calls.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub async fn compute_async<T: Send + 'static>(
    stack_bytes: usize,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    #[cfg(debug_assertions)]
    if crate::Scope::current().is_some() {
        return Ok(work.await);
    }
    let runtime = tokio::runtime::Handle::current();
    let thread = std::thread::Builder::new().stack_size(stack_bytes);
    tokio::task::spawn_blocking(move || {
        let computing = thread.spawn(move || runtime.block_on(work)).expect("one more thread");
        computing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Takes more than a KiB of stack for each level.
    fn deep(levels: usize) -> usize {
        let room = black_box([levels; 128]);
        if levels == 0 { 0 } else { deep(levels - 1) + room[1] / levels }
    }

    #[tokio::test]
    async fn planning_has_the_stack_that_it_asks_for() {
        // Four times at least what a thread of the runtime has.
        assert_eq!(compute_async(64 << 20, async { deep(8 << 10) }).await.unwrap(), 8 << 10);
    }

    #[tokio::test]
    async fn a_panic_in_it_is_told_and_no_more() {
        let died: Result<(), _> = compute_async(1 << 20, async { panic!("no plan") }).await;
        assert!(died.unwrap_err().is_panic());
    }
}
