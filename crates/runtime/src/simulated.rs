//! A clock for one thread that stands still as long as anybody has something to do.
//!
//! The runtime calls [`advance`] when no task can run (`on_thread_park`): the clock jumps to the next
//! deadline that a task waits for, and wakes the waiters, in the order in which they came.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

struct Clock {
    start: Instant,
    start_wall_ms: i64,
    elapsed: Duration,
    /// By their deadline, then by their number.
    timers: BTreeMap<(Duration, u64), Waker>,
    next_timer: u64,
    /// Of the task that is woken with every step.
    awake: Option<Waker>,
}

thread_local! {
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

/// From here on this thread's time is simulated, until what is returned is dropped.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub fn start(wall_ms: i64) -> Started {
    let clock = Clock {
        start: Instant::now(),
        start_wall_ms: wall_ms,
        elapsed: Duration::ZERO,
        timers: BTreeMap::new(),
        next_timer: 0,
        awake: None,
    };
    CLOCK.set(Some(clock));
    Started(())
}

#[must_use]
pub struct Started(());

impl Drop for Started {
    fn drop(&mut self) {
        // Timers that are left hold wakers of tasks: dropped outside of the borrow.
        drop(CLOCK.take());
    }
}

fn with<T>(look: impl FnOnce(&mut Clock) -> T) -> Option<T> {
    CLOCK.with_borrow_mut(|clock| clock.as_mut().map(look))
}

/// The simulated time that has passed.
pub fn elapsed() -> Option<Duration> {
    with(|clock| clock.elapsed)
}

pub fn now() -> Option<Instant> {
    with(|clock| clock.start + clock.elapsed)
}

/// The time on the wall, as the node sees it whose task asks.
pub fn wall_ms() -> Option<i64> {
    let ahead_ms = crate::Scope::current().map_or(0, |scope| scope.wall_ahead_ms());
    with(|clock| clock.start_wall_ms + clock.elapsed.as_millis() as i64 + ahead_ms)
}

/// Puts the clock on the wall forward; the other one goes on as before.
pub fn skip_wall(duration: Duration) {
    with(|clock| clock.start_wall_ms += duration.as_millis() as i64);
}

/// Goes to the next deadline. Whether there is one.
pub fn advance() -> bool {
    let due = with(|clock| {
        let (&(due, _), _) = clock.timers.first_key_value()?;
        clock.elapsed = clock.elapsed.max(due);
        let later = clock.timers.split_off(&(due, u64::MAX));
        Some((std::mem::replace(&mut clock.timers, later), clock.awake.take()))
    });
    let Some(Some((due, awake))) = due else { return false };
    due.into_values().chain(awake).for_each(Waker::wake);
    true
}

/// Never ends, and is woken with every step. The runtime has to poll something when the clock has gone
/// on, or it would sleep; the task that waited may be gone.
pub async fn stay_awake() {
    std::future::poll_fn(|context| {
        with(|clock| clock.awake = Some(context.waker().clone()));
        Poll::Pending
    })
    .await
}

/// None where time is not simulated.
pub fn sleep_until(deadline: Instant) -> Option<Sleep> {
    let due = with(|clock| deadline.saturating_duration_since(clock.start))?;
    Some(Sleep { due, timer: None })
}

pub struct Sleep {
    due: Duration,
    timer: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let due = self.due;
        let timer = &mut self.timer;
        let polled = with(|clock| {
            if clock.elapsed >= due {
                return Poll::Ready(());
            }
            let number = *timer.get_or_insert_with(|| {
                clock.next_timer += 1;
                clock.next_timer
            });
            clock.timers.insert((due, number), context.waker().clone());
            Poll::Pending
        });
        // A clock that has been taken away will never come to it.
        polled.unwrap_or(Poll::Pending)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.timer {
            drop(with(|clock| clock.timers.remove(&(self.due, number))));
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "what replaces tokio is tried on tokio")]
mod tests {
    use super::*;
    use crate::time;

    #[test]
    fn an_hour_passes_when_nobody_has_anything_to_do() {
        let _started = start(1000);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .on_thread_park(|| {
                advance();
            })
            .build()
            .unwrap();
        runtime.block_on(async {
            let hour = Duration::from_secs(3600);
            let sleeper = tokio::spawn(async move {
                time::sleep(hour / 2).await;
                time::wall_ms()
            });
            time::sleep(hour).await;
            assert_eq!(elapsed(), Some(hour));
            assert_eq!(sleeper.await.unwrap(), 1000 + 1_800_000);
            assert_eq!(time::timeout(hour, time::sleep(hour * 2)).await, Err(time::Elapsed));
        });
    }

    #[test]
    fn each_node_has_a_clock_of_its_own_on_its_wall() {
        let _started = start(1000);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (fast, other) = (crate::Scope::default(), crate::Scope::default());
            fast.set_wall_ahead_ms(-400);
            assert_eq!(fast.spawn(async { time::wall_ms() }).await.unwrap(), 600);
            assert_eq!(other.spawn(async { time::wall_ms() }).await.unwrap(), 1000);
            assert_eq!(time::wall_ms(), 1000);
        });
    }
}
