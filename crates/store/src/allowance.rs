//! What a shard may take of the store: its journal and the outputs of its stages, counted together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// Clones are the same allowance.
#[derive(Clone, Debug)]
pub struct Allowance {
    bytes_max: u64,
    taken: Arc<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// What a load would have to read: a snapshot makes it less.
    journal: AtomicU64,
    /// Outputs stay as long as their session.
    outputs: AtomicU64,
}

impl Allowance {
    pub fn new(bytes_max: u64) -> Self {
        Self { bytes_max, taken: Arc::default() }
    }

    /// An error if the journal may not be so long.
    pub(crate) fn check_journal(&self, name: &str, bytes: u64) -> Result<(), Error> {
        self.check(name, bytes + self.taken.outputs.load(Ordering::Relaxed))
    }

    pub(crate) fn journal_is(&self, bytes: u64) {
        self.taken.journal.store(bytes, Ordering::Relaxed);
    }

    /// So much more of an output is about to be written.
    pub(crate) fn take_output(&self, name: &str, bytes: u64) -> Result<(), Error> {
        let outputs = self.add_output(bytes);
        let checked = self.check(name, outputs + self.taken.journal.load(Ordering::Relaxed));
        if checked.is_err() {
            self.taken.outputs.fetch_sub(bytes, Ordering::Relaxed);
        }
        checked
    }

    /// An output that is there.
    pub fn add_output(&self, bytes: u64) -> u64 {
        self.taken.outputs.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    fn check(&self, name: &str, bytes: u64) -> Result<(), Error> {
        match bytes <= self.bytes_max {
            true => Ok(()),
            false => {
                Err(Error::TooLarge { name: name.to_string(), bytes, bytes_max: self.bytes_max })
            }
        }
    }
}
