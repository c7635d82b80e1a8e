//! Bytes of a file that were taken, told to the chunks that were made of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counter of the bytes that were taken of one file.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    bytes: Arc<AtomicU64>,
    told: Arc<AtomicU64>,
}

impl Taken {
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// Those that nobody has been told of.
    pub fn untold(&self) -> usize {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let told = self.told.fetch_max(bytes, Ordering::Relaxed);
        bytes.saturating_sub(told) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_told_once() {
        let taken = Taken::default();
        taken.counter().store(10, Ordering::Relaxed);
        assert_eq!((taken.untold(), taken.untold()), (10, 0));
        taken.counter().store(15, Ordering::Relaxed);
        assert_eq!(taken.untold(), 5);
    }
}
