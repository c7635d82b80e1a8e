//! A disk without room: a coded error, and nothing half-written.

use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use caudal_core::{Coded, codes};
use caudal_store::{Created, Directory, Store, StoreError};

use caudal_testing::skip_on_this_machine;

/// A file system of this size, while it lives.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path, kilobytes: u32) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "none"]).arg(at);
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0).status().unwrap();
        assert!(unmounted.success(), "{} stays mounted", self.0.display());
    }
}

#[tokio::test]
async fn a_full_disk_is_a_coded_failure_and_can_be_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path(), 512) else {
        return skip_on_this_machine("a full disk", "this user may not mount");
    };
    let store = Directory::open(folder.path()).unwrap();
    let body = || Bytes::from(vec![7; 100_000]);
    let mut written = vec![];
    let error = loop {
        let name = format!("sessions/x/{:02}", written.len());
        match store.create(&name, body()).await {
            Ok(created) => assert_eq!(created, Created::New),
            Err(error) => break error,
        }
        written.push(name);
        assert!(written.len() < 10, "the disk does not fill");
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!((error.code(), error.is_retryable()), (codes::STORE_FULL, false));
    assert!(matches!(store.put("sessions/x/00", body()).await, Err(StoreError::Full { .. })));

    assert_eq!(store.list("sessions").await.unwrap(), written, "nothing half-written");
    assert_eq!(store.get("sessions/x/00").await.unwrap().unwrap(), body());
    assert_eq!(std::fs::read_dir(folder.path().join(".parts")).unwrap().count(), 0);

    store.delete_folder("sessions/x").await.unwrap();
    assert_eq!(store.create("sessions/y/0", body()).await.unwrap(), Created::New);
}
