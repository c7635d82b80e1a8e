//! The memory of a process: one pool for all its sessions, each part of which gets a fair share before it spills.

use std::path::PathBuf;
use std::sync::Arc;

use caudal_core::limits;
use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool, TrackConsumersPool};
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
        let gathering = FairSpillPool::new(bytes / 100 * limits::GATHERED_MEMORY_PERCENT);
        let mut disk = DiskManagerBuilder::default().with_mode(spill);
        disk.set_max_temp_directory_size(limits::SPILL_BYTES_MAX);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(disk)
            .build_arc()?;
        Ok(Self { runtime, gathering: Arc::new(gathering), bytes })
    }
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
    use super::*;

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
