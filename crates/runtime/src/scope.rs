//! The tasks of a simulated node: one kill -9 or one SIGSTOP for all of them.
//!
//! What a task of a scope spawns belongs to the scope as well, as long as it is spawned by
//! [`task`](crate::task). A future of a scope is dropped at the await point where it is when the scope
//! is killed, and not polled while it is frozen.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::task::{AbortHandle, JoinHandle, JoinSet};

#[derive(Clone, Default)]
pub struct Scope(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    mode: Mode,
    tasks: usize,
    handles: Vec<AbortHandle>,
    /// Tasks that wanted to run while it was frozen.
    frozen: Vec<Waker>,
    /// How far its clock on the wall is ahead of the others'.
    wall_ahead_ms: i64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Running,
    Frozen,
    Dead,
}

thread_local! {
    static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

impl Scope {
    /// The scope of the task that is running on this thread.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    #[allow(clippy::disallowed_methods, reason = "this is the seam")]
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        let handle = tokio::spawn(self.hold(future));
        self.keep(handle.abort_handle());
        handle
    }

    #[allow(clippy::disallowed_methods, reason = "this is the seam")]
    pub(crate) fn spawn_on<T: Send + 'static>(
        &self,
        set: &mut JoinSet<T>,
        future: impl Future<Output = T> + Send + 'static,
    ) {
        self.keep(set.spawn(self.hold(future)));
    }

    /// All tasks are gone, now.
    pub fn kill(&self) {
        let handles = {
            let mut state = self.lock();
            state.mode = Mode::Dead;
            std::mem::take(&mut state.handles)
        };
        handles.iter().for_each(AbortHandle::abort);
    }

    /// No task runs until it is thawed. Time goes on.
    pub fn freeze(&self) {
        let mut state = self.lock();
        if state.mode == Mode::Running {
            state.mode = Mode::Frozen;
        }
    }

    pub fn thaw(&self) {
        let wakers = {
            let mut state = self.lock();
            if state.mode == Mode::Frozen {
                state.mode = Mode::Running;
            }
            std::mem::take(&mut state.frozen)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub fn is_alive(&self) -> bool {
        self.lock().mode != Mode::Dead
    }

    pub fn is_frozen(&self) -> bool {
        self.lock().mode == Mode::Frozen
    }

    /// Puts the clock on the wall of its tasks ahead, or behind.
    pub fn set_wall_ahead_ms(&self, ms: i64) {
        self.lock().wall_ahead_ms = ms;
    }

    pub(crate) fn wall_ahead_ms(&self) -> i64 {
        self.lock().wall_ahead_ms
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.lock().tasks
    }

    fn hold<F>(&self, future: F) -> Held<F> {
        self.lock().tasks += 1;
        Held { scope: self.clone(), future: Some(Box::pin(future)) }
    }

    fn keep(&self, handle: AbortHandle) {
        let mut state = self.lock();
        if state.handles.len() > 2 * state.tasks + 16 {
            state.handles.retain(|handle| !handle.is_finished());
        }
        state.handles.push(handle);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Held<F> {
    scope: Scope,
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for Held<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        {
            let mut state = self.scope.lock();
            match state.mode {
                Mode::Running => {}
                Mode::Frozen => {
                    state.frozen.push(context.waker().clone());
                    return Poll::Pending;
                }
                // It has been aborted, and is on its way out.
                Mode::Dead => return Poll::Pending,
            }
        }
        let before = CURRENT.replace(Some(self.scope.clone()));
        let future = self.future.as_mut().expect("polled before it was dropped");
        let polled = future.as_mut().poll(context);
        CURRENT.set(before);
        polled
    }
}

impl<F> Drop for Held<F> {
    fn drop(&mut self) {
        let before = CURRENT.replace(Some(self.scope.clone()));
        self.future = None;
        CURRENT.set(before);
        self.scope.lock().tasks -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::task;

    fn counting(count: &Arc<AtomicU32>) -> impl Future<Output = ()> + Send + use<> {
        let count = Arc::clone(count);
        async move {
            let inner = Arc::clone(&count);
            let _child = task::spawn(async move {
                loop {
                    inner.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            });
            std::future::pending().await
        }
    }

    async fn a_while() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_scope_is_frozen_thawed_and_lost_with_all_its_tasks() {
        let (scope, count) = (Scope::default(), Arc::default());
        scope.spawn(counting(&count));
        a_while().await;
        let seen = |count: &Arc<AtomicU32>| count.load(Ordering::Relaxed);
        assert!(seen(&count) > 2);
        assert_eq!(scope.tasks(), 2, "what a task spawns is the scope's");
        scope.freeze();
        let frozen_at = seen(&count);
        a_while().await;
        assert_eq!(seen(&count), frozen_at);
        scope.thaw();
        a_while().await;
        assert!(seen(&count) > frozen_at);
        scope.kill();
        let killed_at = seen(&count);
        a_while().await;
        assert_eq!((seen(&count), scope.tasks()), (killed_at, 0));
        assert_eq!(Arc::strong_count(&count), 1, "everything was dropped");
    }
}
