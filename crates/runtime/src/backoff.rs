//! Pauses between attempts that double, each with a random part, so that many who wait do not come at once.

use std::time::Duration;

/// From a first pause to a longest. Chance comes from fastrand, whose generator a simulation seeds.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    min_ms: u64,
    max_ms: u64,
}

impl Backoff {
    pub const fn new(min_ms: u64, max_ms: u64) -> Self {
        Self { min_ms, max_ms }
    }

    /// The longest that the pause may be after so many failures before this one.
    pub fn most_ms(self, failures: u32) -> u64 {
        self.min_ms.saturating_mul(1 << failures.min(32)).min(self.max_ms)
    }

    /// A pause: at least half of the longest.
    pub fn pause(self, failures: u32) -> Duration {
        let most_ms = self.most_ms(failures);
        Duration::from_millis(fastrand::u64(most_ms / 2..=most_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff::new(50, 2000);

    #[test]
    fn pauses_double_to_a_bound() {
        let most: Vec<_> = (0..8).map(|failures| BACKOFF.most_ms(failures)).collect();
        assert_eq!(most, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(BACKOFF.most_ms(u32::MAX), 2000);
    }

    #[test]
    fn pauses_differ_and_a_seed_repeats_them() {
        let pauses = |seed| {
            fastrand::seed(seed);
            (0..20).map(|_| BACKOFF.pause(9)).collect::<Vec<_>>()
        };
        assert_eq!(pauses(7), pauses(7));
        assert!(pauses(7).windows(2).any(|two| two[0] != two[1]));
        let bounds = Duration::from_millis(1000)..=Duration::from_millis(2000);
        assert!(pauses(7).iter().all(|pause| bounds.contains(pause)));
    }
}
