//! A session's plan together with what it takes to run it: memory, disk, DataFusion's settings.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_core::{StageId, limits};
use caudal_planner::SessionPlan;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionConfig;

use crate::merge::Merge;

/// The number of largest consumers that an out-of-memory error names.
const MEMORY_CONSUMERS_NAMED: std::num::NonZeroUsize =
    std::num::NonZeroUsize::new(3).expect("3 > 0");

pub struct Engine {
    pub plan: Arc<SessionPlan>,
    pub(crate) runtime: Arc<RuntimeEnv>,
    pub(crate) context: Arc<TaskContext>,
    /// The merge of what a shard gathers of a stage, where there is one.
    pub(crate) merges: HashMap<StageId, Merge>,
    /// Stages whose gathered batches are not joined.
    pub(crate) batches_to_keep: HashSet<StageId>,
    /// A part of the memory, and all that gathered rows may take of it: what runs meanwhile (the merge of a sort, say)
    /// cannot make them spill, and would fail for want of the rest.
    pub(crate) gathering: Arc<dyn MemoryPool>,
    memory_bytes: usize,
    spilled_bytes: AtomicU64,
}

impl Engine {
    pub fn new(plan: Arc<SessionPlan>, memory_bytes: usize) -> Result<Self> {
        let pool =
            TrackConsumersPool::new(FairSpillPool::new(memory_bytes), MEMORY_CONSUMERS_NAMED);
        let gathering = FairSpillPool::new(memory_bytes / 100 * limits::GATHERED_MEMORY_PERCENT);
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).build_arc()?;
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .with_sort_spill_reservation_bytes(limits::SORT_RESERVE_BYTES.min(memory_bytes / 16));
        let context =
            TaskContext::default().with_session_config(config).with_runtime(Arc::clone(&runtime));
        let merges = crate::merge::find_all(&plan);
        let batches_to_keep = crate::merge::find_batches_to_keep(&plan);
        Ok(Self {
            plan,
            runtime,
            context: Arc::new(context),
            merges,
            batches_to_keep,
            gathering: Arc::new(gathering),
            memory_bytes,
            spilled_bytes: AtomicU64::new(0),
        })
    }

    /// The largest side of a join that may become a hash table: all shards may build at once, and
    /// a hash table takes about as much again as its rows.
    pub(crate) fn build_bytes_max(&self) -> usize {
        self.memory_bytes / (2 * self.plan.shards)
    }

    pub(crate) fn count_spilled(&self, bytes: usize) {
        self.spilled_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes of gathered rows that have gone to disk for want of memory.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn task(&self) -> Arc<TaskContext> {
        Arc::clone(&self.context)
    }
}
