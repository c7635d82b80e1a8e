//! A session's plan together with what it takes to run it: memory, disk, DataFusion's settings.

use std::collections::HashMap;
use std::sync::Arc;

use caudal_core::StageId;
use caudal_planner::SessionPlan;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionConfig;

use crate::merge::Merge;

/// How many of the largest consumers an out-of-memory error names.
const MEMORY_CONSUMERS_NAMED: std::num::NonZeroUsize =
    std::num::NonZeroUsize::new(3).expect("3 > 0");

pub struct Engine {
    pub plan: Arc<SessionPlan>,
    pub(crate) runtime: Arc<RuntimeEnv>,
    pub(crate) context: Arc<TaskContext>,
    /// How a shard may merge what it gathers of a stage, where it can.
    pub(crate) merges: HashMap<StageId, Merge>,
}

impl Engine {
    pub fn new(plan: Arc<SessionPlan>, memory_bytes: usize) -> Result<Self> {
        let pool =
            TrackConsumersPool::new(FairSpillPool::new(memory_bytes), MEMORY_CONSUMERS_NAMED);
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).build_arc()?;
        let config = SessionConfig::new().with_target_partitions(1);
        let context =
            TaskContext::default().with_session_config(config).with_runtime(Arc::clone(&runtime));
        let merges = crate::merge::find_all(&plan);
        Ok(Self { plan, runtime, context: Arc::new(context), merges })
    }

    pub(crate) fn task(&self) -> Arc<TaskContext> {
        Arc::clone(&self.context)
    }
}
