//! Pauses that grow, each with a random part, so that many who wait do not come at once.

use std::time::Duration;

pub struct Pauses {
    next_ms: u64,
    max_ms: u64,
}

impl Pauses {
    /// Doubled from the first to the last.
    pub fn new(first_ms: u64, max_ms: u64) -> Self {
        Self { next_ms: first_ms, max_ms }
    }

    pub fn next(&mut self) -> Duration {
        let pause_ms = fastrand::u64(self.next_ms / 2..=self.next_ms);
        self.next_ms = (self.next_ms * 2).min(self.max_ms);
        Duration::from_millis(pause_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound() {
        let mut pauses = Pauses::new(50, 2000);
        let all: Vec<_> = (0..20).map(|_| pauses.next().as_millis()).collect();
        assert!(all[0] <= 50);
        assert!(all.iter().all(|pause| *pause <= 2000));
        assert!(all[19] >= 1000);
    }
}
