//! A session's plan together with what it takes to run it: the process's memory, DataFusion's settings.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_core::{StageId, limits};
use caudal_planner::SessionPlan;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::prelude::SessionConfig;

use crate::memory::Memory;
use crate::merge::Merge;

pub struct Engine {
    pub plan: Arc<SessionPlan>,
    pub(crate) memory: Memory,
    pub(crate) context: Arc<TaskContext>,
    /// The merge of what a shard gathers of a stage, where there is one.
    pub(crate) merges: HashMap<StageId, Merge>,
    /// Stages whose gathered batches are not joined.
    pub(crate) batches_to_keep: HashSet<StageId>,
    spilled_bytes: AtomicU64,
}

impl Engine {
    pub fn new(plan: Arc<SessionPlan>, memory: &Memory) -> Self {
        let memory = memory.clone();
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .with_sort_spill_reservation_bytes(limits::SORT_RESERVE_BYTES.min(memory.bytes / 16));
        let runtime = Arc::clone(&memory.runtime);
        let context = TaskContext::default().with_session_config(config).with_runtime(runtime);
        let merges = crate::merge::find_all(&plan);
        let batches_to_keep = crate::merge::find_batches_to_keep(&plan);
        Self {
            plan,
            memory,
            context: Arc::new(context),
            merges,
            batches_to_keep,
            spilled_bytes: AtomicU64::new(0),
        }
    }

    /// The largest side of a join that may become a hash table: all shards may build at once, and
    /// a hash table takes about as much again as its rows.
    pub(crate) fn build_bytes_max(&self) -> usize {
        self.memory.bytes / (2 * self.plan.shards)
    }

    pub(crate) fn count_spilled(&self, bytes: usize) {
        self.spilled_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes of gathered rows that have gone to disk for want of memory.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    /// Complete stages, of any session, that run in this process now: they share its memory.
    pub fn completions(&self) -> usize {
        self.memory.completions.load(Ordering::Relaxed)
    }

    /// Counts rows that somebody holds in the process's memory, for as long as what is returned lives.
    pub fn hold(&self, what: &str, bytes: usize) -> MemoryReservation {
        self.memory.hold(what, bytes)
    }

    pub(crate) fn task(&self) -> Arc<TaskContext> {
        Arc::clone(&self.context)
    }
}
