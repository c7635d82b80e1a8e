//! Threads that compute, apart from those that wait.
//!
//! However long a stage takes, messages are taken, heartbeats sent and calls answered meanwhile, because that is done by
//! other threads. A computation that nobody waits for any more ends: at its next await point, or where it asks its
//! [`Stop`].

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

/// Sets the number of threads, unless they run already. Unset, there are as many as there are cores.
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// Computes and waits for it. Dropped, it stops.
pub async fn run<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    // A simulation has one thread.
    #[cfg(debug_assertions)]
    if crate::Scope::current().is_some() {
        return Ok(work.await);
    }
    spawn(work).await
}

/// Begins to compute. Dropped, it stops.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Computation<T> {
    let stop = Stop::default();
    let work = Stoppable { stop: stop.clone(), work: Box::pin(work) };
    #[cfg(debug_assertions)]
    if crate::Scope::current().is_some() {
        return Computation { task: crate::task::spawn(work), stop };
    }
    Computation { task: threads().spawn(work), stop }
}

/// Has whatever `start` spawns run on the threads that compute.
pub fn entered<T>(start: impl FnOnce() -> T) -> T {
    let _entered = threads().enter();
    start()
}

/// Where the work of a task is done.
#[derive(Clone, Debug)]
pub enum Place {
    /// On the threads that compute: the task's own have others to answer meanwhile.
    Apart,
    /// On the task's own, which computes itself: rows stay in the caches of the thread that has read them. Raised, it
    /// stops what asks.
    Here(Stop),
}

impl Place {
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        match self {
            Place::Apart => run(work).await,
            Place::Here(stop) => Ok(Stoppable { stop: stop.clone(), work: Box::pin(work) }.await),
        }
    }
}

/// A computation that is going on.
pub struct Computation<T> {
    task: JoinHandle<T>,
    stop: Stop,
}

impl<T> Future for Computation<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(context)
    }
}

impl<T> Drop for Computation<T> {
    fn drop(&mut self) {
        self.stop.raise();
        self.task.abort();
    }
}

/// Whether the result of a computation is still wanted: for loops without an await point.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Of the computation that runs on this thread; one that is never raised where there is none.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone).unwrap_or_default()
    }

    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

fn threads() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let threads = match THREADS.load(Ordering::Relaxed) {
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            threads => threads,
        };
        let built = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("compute")
            .enable_all()
            .build();
        built.expect("a process that cannot start threads can do nothing")
    })
}

thread_local! {
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

struct Stoppable<F> {
    stop: Stop,
    work: Pin<Box<F>>,
}

impl<F: Future> Future for Stoppable<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let before = CURRENT.replace(Some(self.stop.clone()));
        let polled = self.work.as_mut().poll(context);
        CURRENT.set(before);
        polled
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "what replaces tokio is tried on tokio")]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[tokio::test]
    async fn whoever_waits_is_not_kept_by_those_who_compute() {
        // This test's only thread is its own.
        let busy = spawn(async { std::thread::sleep(Duration::from_millis(300)) });
        let start = Instant::now();
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(start.elapsed() < Duration::from_millis(200), "the timer was heard");
        assert!(!busy.task.is_finished(), "and it was computing meanwhile");
        busy.await.unwrap();
    }

    #[tokio::test]
    async fn what_nobody_waits_for_stops_without_an_await_point() {
        let (told, stopped) = tokio::sync::oneshot::channel();
        let endless = spawn(async move {
            let stop = Stop::current();
            while !stop.is_raised() {
                std::hint::spin_loop();
            }
            let _ = told.send(());
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!endless.task.is_finished());
        drop(endless);
        tokio::time::timeout(Duration::from_secs(2), stopped).await.unwrap().unwrap();
        assert!(!Stop::current().is_raised(), "of that computation alone");
    }

    #[tokio::test]
    async fn a_panic_is_told_to_whoever_waits() {
        let died = run(async { panic!("on purpose") }).await;
        assert!(died.unwrap_err().is_panic());
    }
}
