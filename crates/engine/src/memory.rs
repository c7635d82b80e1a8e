//! The memory of a process: one pool for all its sessions, each part of which gets a fair share before it spills.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use arrow::array::RecordBatch;
use caudal_core::limits;
use caudal_runtime::failpoint::knob;
use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryPool, MemoryReservation, TrackConsumersPool,
};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};

/// The number of largest consumers that an out-of-memory error names.
const MEMORY_CONSUMERS_NAMED: std::num::NonZeroUsize =
    std::num::NonZeroUsize::new(3).expect("3 > 0");

/// Clones are the same memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) runtime: Arc<RuntimeEnv>,
    /// A part of the memory, and all that gathered rows may take of it: what runs meanwhile (the merge of a sort, say)
    /// cannot make them spill, and would fail for want of the rest.
    pub(crate) gathering: Arc<dyn MemoryPool>,
    pub(crate) bytes: usize,
    /// Complete stages that run now.
    pub(crate) completions: Arc<AtomicUsize>,
}

impl Memory {
    /// Spills to the system's folder for temporary files.
    pub fn new(bytes: usize) -> Result<Self> {
        Self::build(bytes, DiskManagerMode::OsTmpDirectory)
    }

    /// Spills to a folder of its own, which is made anew: whoever had it before is dead, and its files are nobody's.
    pub fn spilling_to(bytes: usize, folder: PathBuf) -> Result<Self> {
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => std::fs::create_dir_all(&folder)?,
        }
        Self::build(bytes, DiskManagerMode::Directories(vec![folder]))
    }

    fn build(bytes: usize, spill: DiskManagerMode) -> Result<Self> {
        let pool = TrackConsumersPool::new(FairSpillPool::new(bytes), MEMORY_CONSUMERS_NAMED);
        let gathered_bytes = bytes / 100 * limits::GATHERED_MEMORY_PERCENT;
        let gathering = FairSpillPool::new(knob("gathered_bytes", gathered_bytes));
        let mut disk = DiskManagerBuilder::default().with_mode(spill);
        disk.set_max_temp_directory_size(limits::SPILL_BYTES_MAX);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(disk)
            .build_arc()?;
        Ok(Self { runtime, gathering: Arc::new(gathering), bytes, completions: Arc::default() })
    }

    /// Counts rows that somebody holds, for as long as the reservation lives.
    pub fn hold(&self, what: &str, bytes: usize) -> MemoryReservation {
        let memory = MemoryConsumer::new(what).register(&self.runtime.memory_pool);
        memory.grow(bytes);
        memory
    }
}

/// Batches that somebody holds, counted in the pool. Nothing is refused: those who can spill do so the earlier for it.
pub(crate) struct Held {
    batches: Vec<RecordBatch>,
    memory: MemoryReservation,
}

impl Held {
    pub fn new(what: &str, pool: &Arc<dyn MemoryPool>) -> Self {
        Self { batches: vec![], memory: MemoryConsumer::new(what).register(pool) }
    }

    /// Keeps a batch, if it has rows.
    pub fn push(&mut self, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            self.memory.grow(batch.get_array_memory_size());
            self.batches.push(batch);
        }
    }

    pub fn bytes(&self) -> usize {
        self.memory.size()
    }

    /// They are somebody else's from here on.
    pub fn into_batches(self) -> Vec<RecordBatch> {
        self.batches
    }
}

pub(crate) fn bytes_of(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::get_array_memory_size).sum()
}

/// Memory that a process may take where nobody says: a part of the machine's, or of what its container has.
pub fn default_bytes() -> usize {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
    let most = machine.into_iter().chain(container).min();
    most.map_or(limits::MEMORY_BYTES_DEFAULT, |bytes| bytes / 100 * limits::MEMORY_PERCENT)
}

/// The machine's memory, as `/proc/meminfo` says it.
fn total_of(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::datatypes::{DataType, Field, Schema};
    use caudal_core::{Attempt, FragmentId, Part, ShardId, Source, TableId};
    use caudal_planner::{QuerySpec, SessionSpec, TableSpec};
    use caudal_protocol::{FragmentPart, Section, TableFragment};

    use super::*;
    use crate::gather::Gathered;
    use crate::{Engine, Shard};

    /// Runs one query over `t`, a table of one column `k`, in so much memory.
    async fn engine(sql: &str, bytes: usize) -> Engine {
        let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, true)]));
        let query = QuerySpec { name: "q".into(), sql: sql.into(), params: vec![] };
        let spec = SessionSpec {
            tables: vec![TableSpec { name: "t".into(), schema }],
            queries: vec![query],
            shards: 1,
            started: chrono::Utc::now(),
        };
        let plan = caudal_planner::plan(&spec).await.unwrap();
        Engine::new(Arc::new(plan), &Memory::new(bytes).unwrap())
    }

    fn reserved(engine: &Engine) -> usize {
        engine.memory.runtime.memory_pool.reserved()
    }

    fn rows(count: i64) -> RecordBatch {
        let k: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
        RecordBatch::try_from_iter_with_nullable([("k", k, true)]).unwrap()
    }

    #[tokio::test]
    async fn what_becomes_of_a_fragment_counts_until_it_is_sent() {
        let engine = engine("SELECT k + 1 FROM t", 1 << 30).await;
        let fragment = TableFragment::new(TableId(0), 0, rows(100_000));
        let output = engine.map(&fragment).await;
        assert!(output.failures.is_empty() && output.results.len() == 1);
        assert!(reserved(&engine) >= 800_000, "{}", reserved(&engine));
        drop(output);
        assert_eq!(reserved(&engine), 0);
    }

    #[tokio::test]
    async fn parts_that_wait_for_others_count_until_their_fragment_is_whole() {
        let engine = Arc::new(engine("SELECT k FROM t ORDER BY k", 1 << 30).await);
        let stage = engine.plan.table(TableId(0)).stages[0];
        let mut shard = Shard::new(ShardId(0), Arc::clone(&engine), &BTreeSet::new());
        let part = |index| FragmentPart {
            id: FragmentId { source: Source::Table(TableId(0)), number: 0 },
            part: Part { attempt: Attempt(1), index, count: 3 },
            end: None,
            sections: vec![Section { stage, batches: vec![rows(1000)] }],
        };
        for index in 0..2 {
            shard.take(part(index)).await.unwrap();
        }
        assert_eq!(reserved(&engine), 2 * bytes_of(&[rows(1000)]));
        shard.take(part(2)).await.unwrap();
        assert_eq!(reserved(&engine), 3 * bytes_of(&[rows(1000)]), "as gathered rows, once");
        drop(shard);
        assert_eq!(reserved(&engine), 0);
    }

    /// By these rows it is decided whether an early look, which reads them all, is worth it.
    #[tokio::test]
    async fn spilled_rows_are_rows_that_a_look_reads() {
        let engine = engine("SELECT k FROM t ORDER BY k", 4 << 20).await;
        let stage = engine.plan.table(TableId(0)).stages[0];
        let mut gathered = Gathered::new(&engine, stage);
        for _ in 0..100 {
            gathered.add(vec![rows(10_000)], None, &engine).await.unwrap();
        }
        assert!(engine.spilled_bytes() > 0);
        assert_eq!((gathered.rows(), gathered.rows_added), (1_000_000, 1_000_000));
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        assert_eq!(total_of("MemTotal:       24520 kB\nMemFree: 1 kB\n"), Some(24520 << 10));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert!(default_bytes() > 64 << 20, "{}", default_bytes());
    }

    #[test]
    fn what_a_dead_process_spilled_is_removed() {
        let folder = tempfile::tempdir().unwrap().keep();
        std::fs::write(folder.join("left"), "rows").unwrap();
        Memory::spilling_to(1 << 20, folder.clone()).unwrap();
        assert_eq!(
            std::fs::read_dir(&folder)
                .unwrap()
                .filter(|e| e.as_ref().is_ok_and(|e| e.file_name() == "left"))
                .count(),
            0
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
