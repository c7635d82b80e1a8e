//! The clock.

use std::time::Duration;

pub use tokio::time::Instant;

/// The time had passed before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

/// The time of the monotonic clock. `Instant::now` and `Instant::elapsed` go past it.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub fn now() -> Instant {
    #[cfg(debug_assertions)]
    if let Some(now) = crate::simulated::now() {
        return now;
    }
    Instant::now()
}

/// The time since something.
pub fn since(start: Instant) -> Duration {
    now().saturating_duration_since(start)
}

/// The time of the clock on the wall, in milliseconds since 1970: for people, and for ages of hours.
#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub fn wall_ms() -> i64 {
    #[cfg(debug_assertions)]
    if let Some(ms) = crate::simulated::wall_ms() {
        return ms;
    }
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since_1970.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

pub async fn sleep(duration: Duration) {
    sleep_until(now() + duration).await;
}

#[allow(clippy::disallowed_methods, reason = "this is the seam")]
pub async fn sleep_until(deadline: Instant) {
    #[cfg(debug_assertions)]
    if let Some(sleep) = crate::simulated::sleep_until(deadline) {
        return sleep.await;
    }
    tokio::time::sleep_until(deadline).await;
}

/// The output of a future, if it comes in time.
pub async fn timeout<T>(duration: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    timeout_at(now() + duration, future).await
}

pub async fn timeout_at<T>(
    deadline: Instant,
    future: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    tokio::select! {
        biased;
        done = future => Ok(done),
        () = sleep_until(deadline) => Err(Elapsed),
    }
}

/// Comes back again and again. After a tick that was late, the next one is a whole period later.
#[derive(Debug)]
pub struct Interval {
    next: Instant,
    period: Duration,
}

/// The first tick is at once.
pub fn interval(period: Duration) -> Interval {
    Interval { next: now(), period }
}

/// The first tick is a period from now.
pub fn interval_later(period: Duration) -> Interval {
    Interval { next: now() + period, period }
}

impl Interval {
    /// May be dropped and called again.
    pub async fn tick(&mut self) {
        sleep_until(self.next).await;
        self.next = now() + self.period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_interval_ticks_at_once_or_later_and_is_never_early() {
        let period = Duration::from_millis(20);
        let start = now();
        let mut ticks = interval(period);
        ticks.tick().await;
        assert!(since(start) < period);
        ticks.tick().await;
        assert!(since(start) >= period);
        let start = now();
        interval_later(period).tick().await;
        assert!(since(start) >= period);
    }

    #[tokio::test]
    async fn what_is_done_in_time_is_told() {
        let long = Duration::from_secs(60);
        assert_eq!(timeout(long, async { 7 }).await, Ok(7));
        assert_eq!(timeout(Duration::from_millis(5), sleep(long)).await, Err(Elapsed));
    }
}
