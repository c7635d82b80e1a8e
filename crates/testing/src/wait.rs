//! Waiting for what a test has set going. That it never comes is the test's failure.

use std::future::poll_fn;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// Time that anything may take, on any machine, before it counts as a hang.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Returns when something is so.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < WAIT_MAX, "not within {WAIT_MAX:?}: {what}");
        thread::sleep(LOOK);
    }
}

/// The same, for a test in a runtime: its tasks go on.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < WAIT_MAX, "not within {WAIT_MAX:?}: {what}");
        sleep().await;
    }
}

/// Sleeps until the next look, on a thread of its own: this crate knows no runtime.
async fn sleep() {
    let end = Instant::now() + LOOK;
    poll_fn(|context| {
        if Instant::now() >= end {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        thread::spawn(move || {
            thread::sleep(end.saturating_duration_since(Instant::now()));
            waker.wake();
        });
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Wake, Waker};

    use super::*;

    #[test]
    fn it_looks_until_it_is_so() {
        let mut looks = 0;
        wait_until("a third look", || {
            looks += 1;
            looks == 3
        });
        assert_eq!(looks, 3);
    }

    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    #[test]
    fn in_any_runtime() {
        let mut looks = 0;
        {
            let mut waiting = pin!(until("a third look", async || {
                looks += 1;
                looks == 3
            }));
            let waker = Waker::from(Arc::new(Unpark(thread::current())));
            while waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                thread::park();
            }
        }
        assert_eq!(looks, 3);
    }
}
