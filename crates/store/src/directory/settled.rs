//! Directories that would still have their names after a power cut.
//!
//! A synced file is found again only if its directory is synced too, and that one's, up to the root.
//! Another process may have made any of them and died before it synced; so the first time this
//! process uses a directory, it syncs all above it, and remembers.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use caudal_core::limits;

pub(super) struct Settled {
    root: PathBuf,
    directories: Mutex<HashSet<PathBuf>>,
}

impl Settled {
    /// Makes the root itself, with its name.
    pub fn open(root: PathBuf) -> io::Result<Self> {
        let is_missing =
            |directory: &&Path| !directory.as_os_str().is_empty() && !directory.exists();
        let missing: Vec<&Path> = root.ancestors().take_while(is_missing).collect();
        fs::create_dir_all(&root)?;
        for directory in missing.into_iter().filter_map(Path::parent) {
            // The parent of a relative path of one segment is the empty path: where we are.
            sync(if directory.as_os_str().is_empty() { Path::new(".") } else { directory })?;
        }
        Ok(Self { root, directories: Mutex::default() })
    }

    /// Makes a directory, if need be. It stays once something in it is settled, and not before: syncs
    /// take long, and who removes the directory again and again would always find the time for it.
    pub fn make(&self, directory: &Path) -> io::Result<()> {
        if self.is_known(directory) { Ok(()) } else { fs::create_dir_all(directory) }
    }

    /// Makes sure that the names in a directory stay.
    pub fn settle(&self, directory: &Path) -> io::Result<()> {
        sync(directory)?;
        if !self.is_known(directory) {
            self.settle_above(directory)?;
        }
        Ok(())
    }

    /// A directory was removed: it, and those below it, may be made anew.
    pub fn forget(&self, directory: &Path) {
        self.known().retain(|known| !known.starts_with(directory));
    }

    fn settle_above(&self, directory: &Path) -> io::Result<()> {
        for above in directory.ancestors().skip(1).take_while(|above| above.starts_with(&self.root))
        {
            sync(above)?;
        }
        let mut known = self.known();
        if known.len() >= limits::STORE_DIRECTORIES_MAX {
            known.clear();
        }
        known.insert(directory.to_path_buf());
        Ok(())
    }

    fn is_known(&self, directory: &Path) -> bool {
        self.known().contains(directory)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashSet<PathBuf>> {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
