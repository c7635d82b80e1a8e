//! A body that has no name yet.
//!
//! A part is locked by its writer; a lock ends with its process, however that ends. So a part that
//! can be locked has lost its writer, and any process may remove it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use caudal_runtime::failpoint;

/// A synced body. What it has not become when it is dropped is removed.
pub(super) struct Part {
    pub path: PathBuf,
    _locked: File,
}

impl Part {
    pub fn write(parts: &Path, body: &[u8]) -> io::Result<Self> {
        let path = parts.join(format!("{:016x}", fastrand::u64(..)));
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        // Before the lock a sweep may take it for a dead one's: then it cannot be named, and is
        // written again.
        let mut part = Self { path, _locked: file };
        part._locked.lock()?;
        part._locked.write_all(body)?;
        part._locked.sync_all()?;
        failpoint::hit("store.part_written");
        Ok(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the parts of the dead.
pub(super) fn sweep(parts: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parts)? {
        let path = entry?.path();
        let is_orphan = File::open(&path).is_ok_and(|part| part.try_lock().is_ok());
        if is_orphan {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}
